/** Prints tables for people, fitted to the width of the terminal, and formats times and durations. */

import { createPaint } from '../../base/paint.ts';
import { cutToWidth, displayWidth, utcTime } from '../../base/text.ts';
import type { LastAction } from '../../schemas/built/operations/types.ts';
import type { CliContext } from '../base/context.ts';
import { printJson, terminalWidth, visible, wrapBeside, wrapWords } from './print.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number;
  /** Numbers are right-aligned. */
  readonly align?: 'right';
  /** An id, name or URL, which people copy: it is never cut. */
  readonly whole?: true;
  /** A text that is wrapped within its column instead of cut. */
  readonly wrap?: true;
  /** On a terminal the column is left out if every row has this value. */
  readonly usual?: string;
}

interface Cells {
  readonly title: string;
  readonly isRight: boolean;
  readonly isWrapped: boolean;
  readonly texts: readonly string[];
  /** Width of the title and the texts, in columns of the terminal. */
  readonly natural: number;
  /** Minimum width, in columns of the terminal. */
  readonly least: number;
}

const GAP = '  ';
/** Minimum width of a column that is cut, in columns of the terminal. */
const LEAST = 12;

/**
 * Returns the header and an entry for each row. Without the terminal's `width` nothing is cut. If even the minimum is too wide, the
 * last columns follow below their row, as separate lines of its entry.
 */
export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width?: number): string[] {
  const all = columns
    .filter((column) => width === undefined || tells(column, rows))
    .map((column) => cellsOf(column, rows));
  const room = width ?? Number.POSITIVE_INFINITY;
  const { inline, below } = arrange(all, room);
  const widths = shrink(inline, room - GAP.length * (inline.length - 1));
  const line = (texts: readonly string[]): string =>
    inline
      .map(({ isRight }, at) => pad(texts[at] ?? '', widths[at] ?? 0, isRight))
      .join(GAP)
      .trimEnd();
  const entry = (row: number): string =>
    [...rowLines(inline, widths, row).map(line), ...below.flatMap((cells) => linesBelow(cells, row, width))].join('\n');
  return [line(inline.map(({ title }) => title)), ...rows.map((_, row) => entry(row))];
}

/** The cells of a row line by line; wrapped cells continue on the following lines. */
function rowLines(inline: readonly Cells[], widths: readonly number[], row: number): string[][] {
  const columns = inline.map(({ isWrapped, texts }, at) =>
    isWrapped ? wrapWords(texts[row] ?? '', widths[at] ?? 0) : [texts[row] ?? ''],
  );
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, index) => columns.map((lines) => lines[index] ?? ''));
}

function tells<Row>({ value, usual = '' }: Column<Row>, rows: readonly Row[]): boolean {
  return rows.some((row) => ![usual, ''].includes(String(value(row))));
}

function cellsOf<Row>({ title, value, align, whole, wrap }: Column<Row>, rows: readonly Row[]): Cells {
  const texts = rows.map((row) => visible(String(value(row))));
  const natural = widest([title, ...texts]);
  const least = whole ? natural : Math.min(natural, Math.max(LEAST, wrap ? widest(texts.flatMap(wordsOf)) : 0));
  return { title, isRight: align === 'right', isWrapped: wrap === true, texts, natural, least };
}

const wordsOf = (text: string): readonly string[] => text.split(' ');

/** Not spread, because a table may have more rows than a call may have arguments. */
const widest = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);

/** The first column is always kept. */
function arrange(all: readonly Cells[], width: number): { inline: readonly Cells[]; below: readonly Cells[] } {
  let count = all.length;
  const least = (): number => all.slice(0, count).reduce((sum, cells) => sum + cells.least, GAP.length * (count - 1));
  while (count > 1 && least() > width) count -= 1;
  return { inline: all.slice(0, count), below: all.slice(count) };
}

/** Narrows the widest columns that may be cut until the table fits, or as far as possible. */
function shrink(inline: readonly Cells[], room: number): number[] {
  const widths = inline.map(({ natural }) => natural);
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const spare = widths.map((width, at) => (width > (inline[at]?.least ?? 0) ? width : 0));
    const widest = spare.indexOf(Math.max(...spare));
    if ((spare[widest] ?? 0) === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

function pad(text: string, width: number, isRight: boolean): string {
  const cut = cutToWidth(text, width);
  const space = ' '.repeat(Math.max(0, width - displayWidth(cut)));
  return isRight ? space + cut : cut + space;
}

function linesBelow({ title, texts }: Cells, row: number, width: number | undefined): string[] {
  const text = texts[row]?.trim() ?? '';
  return text === '' ? [] : wrapBeside(`  ${title.toLowerCase()}${title === '' ? '' : ': '}`, text, width);
}

interface List<Row> {
  /** `--json`: an array of objects instead of a table. */
  readonly json: boolean;
  /** The object of a row; default: the row itself. */
  readonly toJson?: (row: Row) => unknown;
  readonly columns: readonly Column<Row>[];
  /** Printed on stderr instead of a table without rows. */
  readonly empty: string;
}

/** Prints the result of a command that lists. */
export function printList<Row>(
  context: CliContext,
  rows: readonly Row[],
  { json, toJson = (row) => row, columns, empty }: List<Row>,
): void {
  if (json) printJson(context, rows.map(toJson));
  else printTable(context, rows, columns, empty);
}

/** Prints a table on stdout, or `empty` on stderr if there are no rows. */
export function printTable<Row>(
  context: CliContext,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  empty: string,
): void {
  if (rows.length === 0) {
    context.stderr.write(`${empty}\n`);
    return;
  }
  const paint = createPaint(context.colour.stdout);
  const [header, ...lines] = formatTable(rows, columns, terminalWidth(context));
  context.stdout.write(`${[paint('bold', header ?? ''), ...lines].join('\n')}\n`);
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** `2 h 5 min`, `40 s`: the two largest units. */
export function formatDuration(ms: number): string {
  let left = Math.max(0, ms);
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}

/** `16 ms`, `1.4 s`, from a minute on as above; empty for null. */
export function formatRunTime(ms: number | null): string {
  if (ms === null) return '';
  if (ms < 1000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms);
}

/** `Mon 2026-01-05 08:00 UTC+1`; 24-hour, the same in every locale. */
export function formatInstant(ms: number, timezone: string): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'shortOffset',
  });
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const { weekday, year, month, day, hour, minute, timeZoneName = '' } = parts;
  const offset = timeZoneName.replace(/^GMT(?:\+0$)?/, 'UTC');
  return `${weekday} ${year}-${month}-${day} ${hour}:${minute} ${offset}`;
}

/** The end of a pause of `ms` that begins now, in Unix ms; null for one without an end. */
export const pausedUntil = (ms: number | undefined, now: number): number | null =>
  ms === undefined ? null : Math.round(now + ms);

/** `resumed by cli:ann at 2026-07-01 12:00:00 UTC`. */
export const describeAction = ({ did, by, at }: LastAction): string =>
  `${did}${by === undefined ? '' : ` by ${visible(by)}`} at ${utcTime(at)}`;

/** `paused until …`, `paused`, `resumed`. */
export function describePause(paused: boolean, until: number | null, by?: string): string {
  if (!paused) return 'resumed';
  const what = by === undefined ? 'paused' : `paused by ${visible(by)}`;
  return until === null ? what : `${what} until ${new Date(until).toISOString()}`;
}
