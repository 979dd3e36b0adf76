/** The log of the process, written by pino: JSON lines for a pipe, or readable lines for a terminal. */
import type { Writable } from 'node:stream';
import { pino } from 'pino';
import { createPaint } from '../../base/paint.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';
import { printLogLine } from './print-log-line.ts';
import { TurnBuffer } from './turn-buffer.ts';

export interface LoggerOptions {
  readonly stream: Writable;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Readable lines instead of JSON; see print-log-line.ts. */
  readonly pretty: boolean;
  readonly colour: boolean;
  readonly clock: Clock;
  /** Replaces secrets in each line. Default: replaces none. */
  readonly redact?: (text: string) => string;
}

/** `flush` writes buffered lines at once; call it before the process ends without waiting for the event loop. */
export interface ProcessLogger extends Logger {
  flush(): void;
}

/**
 * Creates a logger on a stream. Values are always quoted, so that a sender's text cannot start a line or move the cursor;
 * messages are constants.
 */
export function createLogger(options: LoggerOptions): ProcessLogger {
  const { stream, level, pretty: forPeople, colour, clock, redact = (text) => text } = options;
  const base = { level, base: null, timestamp: createTimestamp(clock), formatters: { level: levelName } };
  if (!forPeople) {
    const buffer = new TurnBuffer(stream, clock);
    const lines = { write: (line: string) => buffer.write(redact(line)) };
    return Object.assign(pino(base, lines), { flush: () => buffer.flush() });
  }
  const paint = createPaint(colour);
  const lines = {
    write: (line: string) => void stream.write(`${printLogLine(redact(line), paint, clock.now())}\n`),
  };
  return Object.assign(pino(base, lines), { flush: () => {} });
}

/** The ISO time of a line, formatted once per millisecond, because it costs as much as the rest of the line. */
function createTimestamp(clock: Clock): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = clock.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

function levelName(level: string): { level: string } {
  return { level };
}
