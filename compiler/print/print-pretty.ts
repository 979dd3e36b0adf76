/** Prints diagnostics for people: a line, a code frame, a hint, related places, and a count at the end. */
import type { Paint } from '../../base/paint.ts';
import { createPaint } from '../../base/paint.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { printable } from '../diagnostics/printable.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import { codeFrame } from './code-frame.ts';
import { fixedLines } from './fixed-lines.ts';
import type { Lines } from './lines.ts';
import { createLines } from './lines.ts';
import type { SafeLine } from './safe-lines.ts';
import { createSafeLines } from './safe-lines.ts';

export interface PrettyOptions {
  readonly color: boolean;
  /** Terminal columns. */
  readonly width: number;
}

const SEVERITY_STYLE = { error: 'red', warning: 'yellow' } as const;

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
  const blocks = diagnostics.map((diagnostic) => block(diagnostic, printing));
  return `${blocks.join('\n')}\n${count(diagnostics)}\n`;
}

function block(diagnostic: Diagnostic, printing: Printing): string {
  const { source, range, severity, rule, message, hint, related } = diagnostic;
  const { paint } = printing;
  const label = paint(SEVERITY_STYLE[severity], `${severity} ${rule}`);
  const lines = [`${paint('bold', where(source, range, printing.lines))}: ${label}: ${printable(message)}`];
  lines.push(...frame(source, range, printing));
  if (hint !== undefined) lines.push(`       ${paint('blue', 'hint:')} ${printable(hint)}`);
  lines.push(...repairOf(diagnostic, printing));
  for (const place of related ?? []) {
    lines.push(`  ${where(place.source, place.range, printing.lines)}: ${printable(place.message)}`);
    lines.push(...frame(place.source, place.range, printing));
  }
  return `${lines.join('\n')}\n`;
}

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
  return `${printable(source.name)}:${line}:${column}`;
}

function count(diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const fixable = diagnostics.filter(({ fix }) => fix !== undefined).length;
  const parts = [plural(errors, 'error'), plural(warnings, 'warning')];
  const total = parts.filter((part) => part !== '').join(', ');
  return fixable === 0 ? total : `${total}; hookwright lint --fix repairs ${fixable}`;
}

const plural = (amount: number, noun: string): string =>
  amount === 0 ? '' : `${amount} ${noun}${amount === 1 ? '' : 's'}`;
