/**
 * Formats a log line for a terminal: time, level, the event it is about, the message, and the rest as `name=value`.
 *
 *     14:02:07 INFO  pull-requests  pull_request  7d3e…  accepted  ms=2.1
 */

import type { Paint, Style } from '../../base/paint.ts';
import { tryParseJson } from '../../base/try-parse-json.ts';
import { isPrintable, printableStart } from './printable.ts';

const LEVELS: Readonly<Record<string, Style>> = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' };

/** Shown without their names, before the message, in this order. */
const SUBJECT = ['route', 'job', 'event', 'delivery_id'] as const;

/** Times are local, with the date unless it is that of `now`; null: always with the date. A line that is not JSON is only made printable. */
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

/** The fields of an entry; null when the line is not one. */
export function parseLogEntry(line: string): Readonly<Record<string, unknown>> | null {
  const value = tryParseJson(line);
  return typeof value === 'object' && value !== null && 'msg' in value ? { ...value } : null;
}

/** As `gateway status` shows it. */
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
