/** The budget of docs/architecture.md: the core and each module stay within their lines of code, and the tree within its files. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './helpers/root.ts';

const CORE = ['base', 'compiler', 'runtime', 'cli', 'main'];
const MOST_FILES = 1120;

/** Sources that people write: what generators write is not theirs to shorten. */
const sources = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/(?:^|\/)(?:built|generated)\//.test(file))
    .map((file) => join(folder, file));

/** Lines that are neither blank, nor part of a comment or an import. */
function linesOfCode(file: string): number {
  const text = readFileSync(join(ROOT, file), 'utf8')
    .replace(/^\s*\/\*[\s\S]*?\*\/[ \t]*$/gm, '')
    .replace(/^import\b[^;]*;$/gm, '');
  return text.split('\n').filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
const codeOf = (folders: readonly string[]): number => sum(folders.flatMap(sources).map(linesOfCode));

/** `| core | 31,000 | what users get |`, by the first cell. */
function budgets(): ReadonlyMap<string, number> {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const section = page.split('## The budget\n')[1]?.split(/^## /m)[0] ?? '';
  const rows = section.matchAll(/^\| `?([a-z]+)`? \| ([\d,]+) \|/gm);
  return new Map([...rows].map(([, name = '', lines = '']) => [name, Number(lines.replaceAll(',', ''))]));
}

test('the core and each module have a budget, and stay within it', () => {
  const modules = readdirSync(join(ROOT, 'modules')).sort();
  const table = budgets();
  assert.deepEqual([...table.keys()].sort(), ['all', 'core', ...modules].sort());
  const counted = new Map([
    ['core', codeOf(CORE)],
    ...modules.map((name) => [name, codeOf([join('modules', name)])] as const),
  ]);
  counted.set('all', sum([...counted.values()]));
  const over = [...counted].filter(([name, lines]) => lines > (table.get(name) ?? 0));
  assert.deepEqual(
    over.map(([name, lines]) => `${name}: ${lines} lines, the budget is ${table.get(name)}`),
    [],
  );
});

test('the tree stays within its number of files', () => {
  const files = [...CORE, 'modules'].flatMap(sources);
  assert.ok(files.length <= MOST_FILES, `${files.length} files`);
});
