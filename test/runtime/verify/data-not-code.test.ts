import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';

const RUNTIME = new URL('../../../runtime/', import.meta.url);
/** Names of senders that are also ordinary words of the code. */
const WORDS = new Set(['basic', 'bearer', 'meta', 'linear', 'box', 'notion', 'npm', 'messenger']);

test('schemes are data: no code that verifies or accepts requests names a sender', () => {
  const { entries } = loadShippedSources();
  const names = new Set(
    entries
      .flatMap(({ name, file }) => [name, ...(file.aliases ?? [])])
      .map((name) => name.toLowerCase())
      .filter((name) => !WORDS.has(name)),
  );
  const files = ['verify', 'intake', 'table'].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, RUNTIME), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file}`),
  );
  const found = files.flatMap((file) => {
    const words =
      readFileSync(new URL(file, RUNTIME), 'utf8')
        .toLowerCase()
        .match(/[a-z0-9][a-z0-9-]*/g) ?? [];
    return words.filter((word) => names.has(word)).map((word) => `${file}: ${word}`);
  });
  assert.ok(files.length > 40);
  assert.deepEqual(found, []);
});
