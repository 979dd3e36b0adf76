/** Tables for people: aligned columns, cut to the terminal's width when there is one. */

import { cutToWidth, displayWidth } from '../../base/display-width.ts';
import { createPaint } from '../../base/paint.ts';
import type { CliContext } from '../base/context.ts';
import { visible } from './print.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string | number;
  /** Numbers stand at the right. */
  readonly align?: 'right';
}

const GAP = '  ';
/** A column is not cut below this many columns of the terminal. */
const LEAST = 12;

/** The lines of a table, header first. `columns`: the terminal's width; without it nothing is cut. */
export function formatTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width?: number): string[] {
  const cells = rows.map((row) => columns.map((column) => visible(String(column.value(row)))));
  const titles = columns.map((column) => column.title);
  const natural = columns.map((_, at) =>
    // Not spread: a table may have more rows than a call takes arguments.
    [titles, ...cells].reduce((most, line) => Math.max(most, displayWidth(line[at] ?? '')), 0),
  );
  const widths = width === undefined ? natural : shrink(natural, width - GAP.length * (columns.length - 1));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => {
        const cut = cutToWidth(text, widths[at] ?? 0);
        const pad = ' '.repeat(Math.max(0, (widths[at] ?? 0) - displayWidth(cut)));
        return columns[at]?.align === 'right' ? pad + cut : cut + pad;
      })
      .join(GAP)
      .trimEnd();
  return [line(titles), ...cells.map(line)];
}

/** Takes columns away from the widest until the table fits, or nothing more can be taken. */
function shrink(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= LEAST) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

/** Prints a table on stdout; `empty` goes to stderr instead when there are no rows. */
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
  const [header, ...lines] = formatTable(rows, columns, context.stdout.isTTY ? context.stdout.columns : undefined);
  context.stdout.write(`${[paint('bold', header ?? ''), ...lines].join('\n')}\n`);
}
