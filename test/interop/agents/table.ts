/** The table of docs/agents.md: a column for each program, a row for each check, and below it what is not as it should be. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../helpers/root.ts';
import type { Result } from './checks.ts';

const PAGE = join(ROOT, 'docs/agents.md');
const [BEGIN, END] = ['<!-- interop -->', '<!-- end of interop -->'];

export interface Column {
  readonly name: string;
  readonly version: string;
  readonly results: Readonly<Record<string, Result>>;
}

const cellOf = (result: Result | undefined): string => {
  if (result === undefined) return '';
  if (result === null) return 'yes';
  return typeof result === 'string' ? '**no**' : '–';
};

/** Rows of cells, without the line below the titles. */
function readRows(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n').filter((line) => line.startsWith('|') && !line.startsWith('| ---'));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Replaces the columns and remarks of these programs. */
export function writeTable(columns: readonly Column[], checks: readonly string[]): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(`${BEGIN}\n`);
  const [old = '', after = ''] = rest.split(END);
  const [titles = [], ...rows] = readRows(old);
  const known = new Map(titles.slice(1).map((title, at) => [title, rows.map((row) => row[at + 1] ?? '')]));
  const names = rows.map(([name = '']) => name);
  for (const { name, version, results } of columns) {
    const date = new Date().toISOString().slice(0, 10);
    known.set(
      `\`${name}\``,
      ['version', 'tried', ...checks].map((check) => {
        const earlier = known.get(`\`${name}\``)?.[names.indexOf(check)] ?? '';
        return { version, tried: date }[check] ?? (Object.hasOwn(results, check) ? cellOf(results[check]) : earlier);
      }),
    );
  }
  const all = [...known].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const body = ['version', 'tried', ...checks].map((check, at) =>
    line([check, ...all.map(([, cells]) => cells[at] ?? '')]),
  );
  const kept = old
    .split('\n')
    .filter(
      (text) =>
        text.startsWith('- `') &&
        !columns.some(({ name, results }) =>
          Object.keys(results).some((check) => text.startsWith(remark(name, check))),
        ),
    );
  const remarks = columns.flatMap(({ name, results }) =>
    Object.entries(results).flatMap(([check, result]) => {
      if (result === null) return [];
      return [
        `${remark(name, check)} ${typeof result === 'string' ? result.replaceAll('\n', ' ').slice(0, 200) : result.none}.`,
      ];
    }),
  );
  const table = [line(['', ...all.map(([title]) => title)]), line(['---', ...all.map(() => '---')]), ...body];
  const text = `\n${table.join('\n')}\n\n${[...kept, ...remarks].toSorted().join('\n')}\n\n`;
  writeFileSync(PAGE, `${before}${BEGIN}\n${text}${END}${after}`);
}

const remark = (name: string, check: string): string => `- \`${name}\`, ${check}:`;
