/** The documents hang together: every link between them leads to a file and a heading that are there, and the index names every page. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { pageNames } from '../../modules/workbench/cli/docs.ts';
import { ROOT } from '../helpers/root.ts';

const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
const examples = readdirSync(join(ROOT, 'examples')).map((name) => `examples/${name}/README.md`);
const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  'test/security/README.md',
]
  .concat(pages.map((name) => `docs/${name}`))
  .concat(examples);

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
/** Blocks with longer fences contain lines of three backticks. */
const BLOCK = /^([ \t]*)(`{3,})[\s\S]*?^\1\2$/gm;
const withoutCode = (markdown: string): string =>
  markdown.replace(BLOCK, '').replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ''));

/** The anchors of a page as GitHub makes them. */
function anchors(markdown: string): ReadonlySet<string> {
  const titles = [...markdown.replace(BLOCK, '').matchAll(/^#+ (.*)$/gm)];
  return new Set(titles.map(([, title = '']) => anchorOf(title)));
}

const anchorOf = (title: string): string =>
  title
    .replace(/&[a-z]+;/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replace(/ /g, '-');

for (const path of DOCUMENTS) {
  test(`${path}: its links lead somewhere`, () => {
    const broken = [...withoutCode(read(path)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => !isThere(path, link));
    assert.deepEqual(broken, []);
  });
}

function isThere(from: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(join(ROOT, path))) return false;
  return anchor === undefined || anchors(read(path)).has(anchor);
}

test('the pictures of README are there', () => {
  const pictures = [...read('README.md').matchAll(/(?:srcset|src)="\.\/([^"]+)"/g)].map(([, path = '']) => path);
  assert.notDeepEqual(pictures, []);
  assert.deepEqual(
    pictures.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});

test('the index, which `hookwright docs` and the site list, names every page once', () => {
  const names = pages.filter((name) => name !== 'README.md').map((name) => name.replace(/\.md$/, ''));
  assert.deepEqual([...pageNames()].sort(), names.sort());
});

test('README leads to the index', () => {
  assert.ok(read('README.md').includes('(docs/README.md)'));
});
