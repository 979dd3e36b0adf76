/** What the pages about sources show is true: their configs compile, their vectors have the form that is read. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileConfig, printed } from '../helpers/compile.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { vectors } from '../helpers/vectors.ts';

const PAGES = ['sources.md', 'own-sources.md'];
const read = (page: string): string => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');

for (const page of PAGES) {
  test(`docs/${page}: every config compiles without a word`, () => {
    const configs = codeBlocks(read(page)).filter(({ language }) => language === 'yaml');
    assert.ok(configs.length > 0);
    for (const { text, line } of configs) {
      const result = compileConfig(text);
      assert.deepEqual(result.diagnostics, [], `line ${line}\n${printed(result)}`);
    }
  });
}

test('docs/own-sources.md: the vector has the keys of the vectors', () => {
  const [block] = codeBlocks(read('own-sources.md')).filter(({ language }) => language === 'json');
  const known = new Set(vectors.flatMap((vector) => Object.keys(vector)));
  const keys = Object.keys(JSON.parse(block?.text ?? '{}') as object);
  assert.ok(keys.length > 5 && keys.every((key) => known.has(key)));
});
