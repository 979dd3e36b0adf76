/** The log of the process, written by pino: JSON lines for a pipe, or readable lines for a terminal. */
import type { Writable } from 'node:stream';
import { pino } from 'pino';
import { createPaint } from '../../base/paint.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';
import { printLogLine } from './print-log-line.ts';

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
 * messages are constants. JSON lines are buffered for up to 10 ms.
 *
 * @param options `stream`, the least `level` that is written, `pretty` (readable lines instead of JSON), `colour` (with
 * `pretty`), `clock` for the times, and `redact`, which replaces secrets in each line (default: none are replaced)
 * @returns a logger with `flush`, which writes buffered lines at once
 *
 * @example
 * ```ts
 * import { createLogger } from 'hookwright/runtime';
 *
 * const clock = { now: Date.now, monotonic: () => performance.now(), after: () => ({ cancel: () => {} }) };
 * const options = { stream: process.stderr, level: 'error', pretty: false, colour: false, clock } as const;
 * const log = createLogger(options);
 * log.info({ status: 202 }, 'not written: below the level');
 * log.flush();
 * ```
 */
export function createLogger(options: LoggerOptions): ProcessLogger {
  const { stream, level, pretty: forPeople, colour, clock, redact = (text) => text } = options;
  const base = {
    level,
    base: null,
    timestamp: createTimestamp(clock),
    formatters: { level: (level: string) => ({ level }) },
  };
  if (!forPeople) {
    const { write, flush } = bufferLines(stream, clock);
    return Object.assign(pino(base, { write: (line: string) => write(redact(line)) }), { flush });
  }
  const paint = createPaint(colour);
  const lines = {
    write: (line: string) => void stream.write(`${printLogLine(redact(line), paint, clock.now())}\n`),
  };
  return Object.assign(pino(base, lines), { flush: () => {} });
}

/** Longest text that is buffered, in UTF-16 units, and least time between two writes, in ms. */
const BUFFER_LIMIT = 65_536;
const WRITE_PAUSE_MS = 10;

/**
 * Writes lines together, because under load a write costs more than its line: the first after a quiet period at the end of
 * its turn of the event loop, those of a busy process every few ms. pino's own buffer (sonic-boom) writes to a file
 * descriptor, while this log goes to any stream. The timers keep the process alive, so that a normal exit loses nothing.
 */
function bufferLines(
  stream: Writable,
  clock: Clock,
): { readonly write: (line: string) => void; readonly flush: () => void } {
  let text = '';
  let writtenAt = Number.NEGATIVE_INFINITY;
  const flush = (): void => {
    if (text === '') return;
    const lines = text;
    text = '';
    writtenAt = clock.monotonic();
    stream.write(lines);
  };
  const write = (line: string): void => {
    if (text === '') {
      const wait = writtenAt + WRITE_PAUSE_MS - clock.monotonic();
      if (wait > 0) setTimeout(flush, wait);
      else setImmediate(flush);
    }
    text += line;
    if (text.length > BUFFER_LIMIT) flush();
  };
  return { write, flush };
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
