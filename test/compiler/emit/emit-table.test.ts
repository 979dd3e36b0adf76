import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { TableContent } from '../../../compiler/config/settings.ts';
import { emitTable } from '../../../compiler/emit/emit-table.ts';

const content = (names: readonly string[]): TableContent =>
  ({
    server: { port: 1, host: 'h' },
    target_names: { b: 'b', a: 'b' },
    routes: Object.fromEntries(names.map((name) => [name, { name, prompt: 'é\n' }])),
  }) as unknown as TableContent;

test('the hash covers every byte after the first line', () => {
  const { table, text } = emitTable(content(['x', 'y']));
  const bytes = Buffer.from(text);
  const end = bytes.indexOf(0x0a) + 1;
  const hash = createHash('sha256').update(bytes.subarray(end)).digest('hex');
  assert.equal(bytes.subarray(0, end).toString(), `{"format":2,"hash":"${hash}",\n`);
  assert.equal(table.hash, hash);
});

test('the text is the table as JSON', () => {
  const { table, text } = emitTable(content(['x', 'y']));
  assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(table)));
});

test('the order of routes does not affect the bytes', () => {
  assert.equal(emitTable(content(['b', '10', '9', 'a'])).text, emitTable(content(['a', '9', 'b', '10'])).text);
});

test('each route has its own line', () => {
  const lines = emitTable(content(['b', 'a'])).text.split('\n');
  assert.deepEqual(
    lines.filter((line) => line.includes('"name"')).map((line) => line.slice(0, 4)),
    ['"a":', '"b":'],
  );
});
