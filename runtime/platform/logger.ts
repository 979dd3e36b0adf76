/** The process's log: pino, as JSON lines for a pipe or in a form for people on a terminal. */
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
  /** For people: see print-log-line.ts. */
  readonly pretty: boolean;
  readonly colour: boolean;
  readonly clock: Clock;
  /** Replaces secrets in each line. Default: none. */
  readonly redact?: (text: string) => string;
}

/** `flush` writes what the current turn has logged; to be called before an end that does not wait for the event loop. */
export interface ProcessLogger extends Logger {
  flush(): void;
}

/**
 * A logger on a stream. Values are always quoted, so that no text of a sender can begin a line or move a cursor; messages
 * are constants of this program.
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

/** ISO time of a line; made once per millisecond, for it costs as much as the rest of the line. */
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
