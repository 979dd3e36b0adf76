/** Prints diagnostics for people: a line, a code frame, a hint, related places, and a count at the end. */
import type { Paint } from '../../base/paint.ts';
import { createPaint } from '../../base/paint.ts';
import { characterWidth, cutToWidth, displayWidth, escapeInvisible } from '../../base/text.ts';
import { applyEdits } from '../diagnostics/apply-edits.ts';
import type { Diagnostic, TextEdit } from '../diagnostics/diagnostic.ts';
import { printable } from '../diagnostics/printable.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import type { Lines } from './lines.ts';
import { createLines } from './lines.ts';
import type { SafeLine } from './safe-lines.ts';
import { createSafeLines } from './safe-lines.ts';

export interface PrettyOptions {
  readonly color: boolean;
  /** Terminal columns. */
  readonly width: number;
}

const SEVERITIES = ['error', 'warning', 'hint'] as const;
const SEVERITY_STYLE = { error: 'red', warning: 'yellow', hint: 'blue' } as const;

interface Printing {
  readonly lines: Lines;
  readonly safeLine: SafeLine;
  readonly paint: Paint;
  readonly width: number;
}

/** Returns an empty string if there are no diagnostics; else the text ends with a line break. */
export function printPretty(diagnostics: readonly Diagnostic[], options: PrettyOptions): string {
  if (diagnostics.length === 0) return '';
  const paint = createPaint(options.color);
  const lines = createLines();
  const safeLine = createSafeLines(diagnostics, lines);
  const printing: Printing = { lines, safeLine, paint, width: options.width };
  const shown = worst(diagnostics);
  const blocks = shown.map((diagnostic) => block(diagnostic, printing));
  return `${blocks.join('\n')}\n${count(diagnostics, diagnostics.length - shown.length)}\n`;
}

/** Maximum number of diagnostics that are printed for people: a file may have one in every ten characters. */
const MAX_SHOWN = 500;
const MAX_RELATED = 20;

export function worst(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  if (diagnostics.length <= MAX_SHOWN) return diagnostics;
  const bySeverity = SEVERITIES.flatMap((each) => diagnostics.filter(({ severity }) => severity === each));
  return bySeverity.slice(0, MAX_SHOWN);
}

function block(diagnostic: Diagnostic, printing: Printing): string {
  const { source, range, severity, rule, message, hint, related } = diagnostic;
  const { paint } = printing;
  const label = paint(SEVERITY_STYLE[severity], `${severity} ${rule}`);
  const lines = [`${paint('bold', where(source, range, printing.lines))}: ${label}: ${messageLine(message)}`];
  lines.push(...frame(source, range, printing));
  if (hint !== undefined) lines.push(`       ${paint('blue', 'hint:')} ${messageLine(hint)}`);
  lines.push(...repairOf(diagnostic, printing));
  for (const place of (related ?? []).slice(0, MAX_RELATED)) {
    lines.push(`  ${where(place.source, place.range, printing.lines)}: ${messageLine(place.message)}`);
    lines.push(...frame(place.source, place.range, printing));
  }
  return `${lines.join('\n')}\n`;
}

/** A message on one line. It may repeat a key or a value of any length. */
export const messageLine = (text: string): string =>
  escapeInvisible(text.length > MAX_SPAN ? `${text.slice(0, MAX_SPAN)}…` : text);

/** The lines that `lint --fix` would write. */
function repairOf({ source, fix }: Diagnostic, printing: Printing): readonly string[] {
  const fixed = fix === undefined ? null : fixedLines(source, fix, printing);
  if (fixed === null) return [];
  const label = printing.paint('blue', 'fix:');
  return fixed.map((line, index) => `       ${index === 0 ? label : '    '}  ${line}`);
}

function frame(source: SourceText, range: Range, printing: Printing): readonly string[] {
  const { paint } = printing;
  const drawn = codeFrame(source, range, printing);
  if (drawn === null) return [];
  const { gutter, margin, code, indent, carets } = drawn;
  return [`${paint('dim', gutter)}${code}`, `${paint('dim', margin)}${indent}${paint('red', carets)}`];
}

function where(source: SourceText, range: Range, lines: Lines): string {
  const { line, column } = lines.positionOf(source, range.start);
  return `${escapeInvisible(source.name)}:${line}:${column}`;
}

function count(diagnostics: readonly Diagnostic[], hidden: number): string {
  const fixable = diagnostics.filter(({ fix }) => fix !== undefined).length;
  const parts = SEVERITIES.map((each) => plural(diagnostics.filter(({ severity }) => severity === each).length, each));
  const more = hidden === 0 ? '' : `; ${hidden} of them not shown (--format json lists all)`;
  const total = parts.filter((part) => part !== '').join(', ') + more;
  return fixable === 0 ? total : `${total}; hookwright lint --fix repairs ${fixable}`;
}

const plural = (amount: number, noun: string): string =>
  amount === 0 ? '' : `${amount} ${noun}${amount === 1 ? '' : 's'}`;

/** Prints the source line of a diagnostic, with carets below its range. */
interface FrameOptions {
  readonly lines: Lines;
  readonly safeLine: SafeLine;
  /** Width available for the frame, in terminal columns. */
  readonly width: number;
}

interface Frame {
  /** `12 | ` and blanks of the same width. */
  readonly gutter: string;
  readonly margin: string;
  readonly code: string;
  /** The spaces before the carets, then one `^` per column of the range on this line. */
  readonly indent: string;
  readonly carets: string;
}

const TAB = '    ';
const ELLIPSIS = '…';

/** Returns null if there is no text to show: the file is empty or could not be read. */
function codeFrame(source: SourceText, range: Range, options: FrameOptions): Frame | null {
  if (source.text === '') return null;
  const { line, column } = options.lines.positionOf(source, range.start);
  const text = options.safeLine(source, line).slice(0, column - 1 + 2 * MAX_SPAN);
  const marked = text.slice(column - 1, column - 1 + Math.min(MAX_SPAN, range.end - range.start)).trimEnd();
  const before = expandTabs(text.slice(Math.max(0, column - 1 - MAX_SPAN), column - 1));
  const middle = expandTabs(marked);
  const after = expandTabs(text.slice(column - 1 + marked.length));
  const number = String(line).padStart(4);
  const room = Math.max(20, options.width - number.length - 3);
  const cut = fit({ before, middle, after }, room);
  return {
    gutter: `${number} | `,
    margin: `${' '.repeat(number.length)} | `,
    code: (cut.before + cut.middle + cut.after).trimEnd(),
    indent: ' '.repeat(displayWidth(cut.before)),
    carets: '^'.repeat(Math.max(1, displayWidth(cut.middle))),
  };
}

const expandTabs = (text: string): string => text.replaceAll('\t', TAB);

interface Cut {
  readonly before: string;
  readonly middle: string;
  readonly after: string;
}

/** Truncates a long line on both sides of the marked part. */
function fit({ before, middle, after }: Cut, room: number): Cut {
  if (displayWidth(before + middle + after, room) <= room) return { before, middle, after };
  const kept = { middle: cutToWidth(middle, Math.floor(room * 0.6)), before };
  const rest = room - displayWidth(kept.middle);
  if (displayWidth(before, rest) > rest * 0.7) kept.before = tail(before, Math.floor(rest * 0.6));
  return { ...kept, after: cutToWidth(after, Math.max(0, rest - displayWidth(kept.before))) };
}

function tail(text: string, room: number): string {
  let start = text.length;
  let width = 1;
  while (start > 0) {
    const before = lastCharacter(text, start);
    width += characterWidth(before);
    if (width > room) break;
    start -= before.length;
  }
  return ELLIPSIS + text.slice(start);
}

/** The character before `end`: one or two UTF-16 code units. */
function lastCharacter(text: string, end: number): string {
  const pair = text.slice(Math.max(0, end - 2), end);
  return (pair.codePointAt(0) ?? 0) > 0xffff ? pair : text.slice(end - 1, end);
}

const MAX_LINES = 6;
/** Maximum number of characters of a line that are looked at before and after what is shown of it. */
const MAX_SPAN = 1000;

/** Returns the lines without their common indentation, or null if a line contains a masked value. */
function fixedLines(
  source: SourceText,
  edits: readonly TextEdit[],
  { lines, safeLine }: { readonly lines: Lines; readonly safeLine: SafeLine },
): readonly string[] | null {
  const [from, to] = [edits[0]?.range.start ?? 0, edits.at(-1)?.range.end ?? 0];
  if (to - from > MAX_SPAN) return null;
  const first = lines.positionOf(source, from);
  const last = lines.positionOf(source, to);
  // Only these lines are copied, and only a part of long ones: a file may have a fix in each tenth line or column.
  const start = Math.max(from - first.column + 1, from - MAX_SPAN);
  const lastStart = to - last.column + 1;
  const end = Math.min(lastStart + lines.textOf(source, last.line).length, to + MAX_SPAN);
  for (let line = first.line; line <= last.line; line++) {
    const left = line === first.line ? start - (from - first.column + 1) : 0;
    const right = line === last.line ? end - lastStart : Number.POSITIVE_INFINITY;
    const shown = printable(lines.textOf(source, line).slice(left, right));
    if (safeLine(source, line).slice(left, right) !== shown) return null;
  }
  const within = edits.map(({ range, ...edit }) => ({
    ...edit,
    range: { start: range.start - start, end: range.end - start },
  }));
  const text = applyEdits(source.text.slice(start, end), within);
  return dedent(printable(text.replace(/^\n+|\s+$/g, '')).split('\n'));
}

function dedent(lines: readonly string[]): readonly string[] {
  const depth = Math.min(
    ...lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)?.[0].length ?? 0),
  );
  const shown = lines.slice(0, MAX_LINES).map((line) => line.slice(depth));
  return lines.length > MAX_LINES ? [...shown, '…'] : shown;
}
