/**
 * The limits of docs/architecture.md: three rings of code, the number and the sizes of files, and the spine that a newcomer
 * reads. Lines of code are neither blank nor part of a comment or an import; generated files do not count.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './helpers/root.ts';

const RINGS: Readonly<Record<string, readonly string[]>> = {
  core: ['base', 'compiler', 'runtime', 'main'],
  shell: ['cli'],
  modules: ['modules'],
};
const MOST_FILES = 640;
const LEAST_MEDIAN = 70;
const MOST_IN_NINE_OF_TEN = 240;
const MOST_IN_A_FILE = 450;
const SPINE_FILES = { least: 60, most: 75 };
const SPINE_LINES = 9500;
/** How far a figure of today may be from the truth. */
const STALE = 0.03;

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

const sources = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:tsx?|mjs)$/.test(file) && !/(?:^|\/)(?:built|generated)\//.test(file))
    .map((file) => join(folder, file));

function linesOfCode(file: string): number {
  const text = readFileSync(join(ROOT, file), 'utf8')
    .replace(/^\s*\/\*[\s\S]*?\*\/[ \t]*$/gm, '')
    .replace(/^import\b[^;]*;$/gm, '');
  return text.split('\n').filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);
const codeOf = (folders: readonly string[]): number => sum(folders.flatMap(sources).map(linesOfCode));

interface Limit {
  readonly most: number;
  readonly today: number;
}

/** `| core | 26,000 | 25,870 | what users get |`, by the first cell. */
function limits(): ReadonlyMap<string, Limit> {
  const section = page.split('## The limits\n')[1]?.split(/^## /m)[0] ?? '';
  const rows = section.matchAll(/^\| \**`?([a-z]+)`?\** \| ([\d,]+) \| ([\d,]+) \|/gm);
  const read = (text: string): number => Number(text.replaceAll(',', ''));
  return new Map(
    [...rows].map(([, name = '', most = '', today = '']) => [name, { most: read(most), today: read(today) }]),
  );
}

/** The paths in the list at the head of the page, in reading order. */
function spine(): readonly string[] {
  const section = page.split('## The spine\n')[1]?.split(/^## /m)[0] ?? '';
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file);
}

test('each ring, and each module, stays within its lines of code', () => {
  const modules = readdirSync(join(ROOT, 'modules')).sort();
  const table = limits();
  const counted = new Map([
    ...Object.entries(RINGS).map(([ring, folders]) => [ring, codeOf(folders)] as const),
    ...modules.map((name) => [name, codeOf([join('modules', name)])] as const),
    ['all', codeOf(Object.values(RINGS).flat())],
  ]);
  assert.deepEqual([...table.keys()].sort(), [...counted.keys()].sort());
  const over = [...counted].filter(([name, lines]) => lines > (table.get(name)?.most ?? 0));
  assert.deepEqual(
    over.map(([name, lines]) => `${name}: ${lines} lines, the limit is ${table.get(name)?.most}`),
    [],
  );
  const stale = [...counted].filter(([name, lines]) => Math.abs(lines / (table.get(name)?.today ?? 1) - 1) > STALE);
  assert.deepEqual(
    stale.map(([name, lines]) => `${name}: ${lines} lines today, the table says ${table.get(name)?.today}`),
    [],
  );
});

test('files are chapters: not too many, and neither crumbs nor tomes', () => {
  const sizes = Object.values(RINGS)
    .flat()
    .flatMap(sources)
    .map((file) => ({ file, lines: linesOfCode(file) }))
    .sort((a, b) => a.lines - b.lines);
  const at = (share: number): number => sizes[Math.floor(sizes.length * share)]?.lines ?? 0;
  assert.ok(sizes.length <= MOST_FILES, `${sizes.length} files`);
  assert.ok(at(0.5) >= LEAST_MEDIAN, `the median is ${at(0.5)} lines`);
  assert.ok(at(0.9) <= MOST_IN_NINE_OF_TEN, `one file in ten has more than ${at(0.9)} lines`);
  assert.deepEqual(
    sizes.filter(({ lines }) => lines > MOST_IN_A_FILE),
    [],
  );
});

test('the spine exists, and can be read in an afternoon', () => {
  const files = spine();
  assert.equal(new Set(files).size, files.length);
  assert.deepEqual(
    files.filter((file) => !existsSync(join(ROOT, file))),
    [],
  );
  assert.ok(files.length >= SPINE_FILES.least && files.length <= SPINE_FILES.most, `${files.length} files`);
  const lines = sum(files.map(linesOfCode));
  assert.ok(lines <= SPINE_LINES, `${lines} lines`);
});
