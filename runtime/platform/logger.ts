/** The log of the process, written by pino: JSON lines for a pipe, or readable lines for a terminal. */
import type { Writable } from 'node:stream';
import { pino } from 'pino';
import { tryParseJson } from '../../base/files.ts';
import type { Paint, Style } from '../../base/paint.ts';
import { createPaint } from '../../base/paint.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';
import { isPrintable, printableStart } from './log.ts';

interface LoggerOptions {
  readonly stream: Writable;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Readable lines instead of JSON. */
  readonly pretty: boolean;
  readonly colour: boolean;
  readonly clock: Clock;
  /** Replaces secrets in each line. Default: no replacement. */
  readonly redact?: (text: string) => string;
}

/** `flush` writes buffered lines immediately; call it before the process ends without waiting for the event loop. */
export interface ProcessLogger extends Logger {
  flush(): void;
}

/**
 * Creates a logger on a stream. Values are always quoted, so that a sender's text cannot start a line or move the cursor;
 * messages are constants. JSON lines are buffered for up to 10 ms.
 *
 * @param options `stream`, the minimum `level` that is written, `pretty` (readable lines instead of JSON), `colour` (with
 * `pretty`), `clock` for the times, and `redact`, which replaces secrets in each line (default: no replacement)
 * @returns a logger with `flush`, which writes buffered lines immediately
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

/** Maximum length of the buffered text, in UTF-16 units, and minimum time between two writes, in ms. */
const BUFFER_LIMIT = 65_536;
const WRITE_PAUSE_MS = 10;

/**
 * Writes lines together, because under load a write costs more than its line. The first line after a quiet period is written at
 * the end of its turn of the event loop; those of a busy process every few ms. pino's own buffer (sonic-boom) writes to a file
 * descriptor, while this log writes to any stream. The timers keep the process alive, so that a normal exit loses nothing.
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

/*
 * Formats a log line for a terminal: time, level, the event that it concerns, the message, and the rest as `name=value`.
 *
 *     14:02:07 INFO  pull-requests  pull_request  7d3e…  accepted  ms=2.1
 */

const LEVELS: Readonly<Record<string, Style>> = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' };

/** Shown without their names, before the message, in this order. */
const SUBJECT = ['route', 'job', 'event', 'delivery_id'] as const;

/**
 * Times are local, with the date unless it is that of `now`; null: always with the date. Lines that are not JSON are only made
 * printable.
 */
export function printLogLine(line: string, paint: Paint, now: number | null): string {
  const entry = parseLogEntry(line);
  if (entry === null) return printableLine(line);
  const { time, level, msg, err, diagnostics, hint, ...fields } = entry;
  const name = printableLine(String(level));
  const subject = SUBJECT.map((key) => fields[key]).filter((value) => typeof value === 'string' && value !== '');
  const rest = Object.entries(fields)
    .filter(([key, value]) => value !== null && !(isSubject(key) && typeof value === 'string'))
    .filter(([key, value]) => key !== 'outcome' || value !== msg)
    .map(([key, value]) =>
      paint('dim', `${printableLine(key)}=${key === 'hash' ? shortHash(value) : printValue(value)}`),
    );
  const head = `${printTime(String(time), now)} ${paint(LEVELS[name] ?? 'dim', name.toUpperCase().padEnd(5))}`;
  const words = [...subject.map(printValue), paint('bold', printableLine(String(msg))), ...rest].join('  ');
  return [`${head} ${words}`, ...below(err), ...below(diagnostics), ...below(hint)].join('\n');
}

const isSubject = (key: string): boolean => SUBJECT.some((subject) => subject === key);

/** Returns the fields of an entry; null if the line is not one. */
export function parseLogEntry(line: string): Readonly<Record<string, unknown>> | null {
  const value = tryParseJson(line);
  return typeof value === 'object' && value !== null && 'msg' in value ? { ...value } : null;
}

/** The same form as in `gateway status`. */
const shortHash = (value: unknown): string => printValue(String(value).slice(0, 12));

const isPlain = (value: unknown): value is string =>
  typeof value === 'string' && /^[\p{L}\p{N}_./:@#+%~-]+$/u.test(value);

/** Quotes text that could be mistaken for something else. */
function printValue(value: unknown): string {
  if (isPlain(value)) return value;
  if (Array.isArray(value) && value.length > 0 && value.every(isPlain)) return value.join();
  return printableLine(JSON.stringify(value) ?? 'undefined');
}

const printableLine = (text: string): string => (isPrintable(text) ? text : printableStart(text, text.length));

/** The lines of a multi-line value, indented, so that none of them looks like a log entry. */
function below(value: unknown): string[] {
  const text =
    typeof value === 'object' && value !== null
      ? String('stack' in value ? value.stack : JSON.stringify(value))
      : (value ?? '');
  if (text === '') return [];
  return String(text)
    .trimEnd()
    .split('\n')
    .map((line) => `    ${printableLine(line)}`);
}

function printTime(text: string, now: number | null): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return printableLine(text);
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  const isToday = now !== null && at.toDateString() === new Date(now).toDateString();
  return isToday ? clock : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
}
