import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { loadTable } from '../../../runtime/table/table-source.ts';
import { routeTable } from '../../helpers/route-table.ts';

const load = (bytes: Buffer | string, current = '') => loadTable(Buffer.from(bytes), current);
const { table, text } = routeTable({ routes: { b: {}, a: { description: 'odd "}}\n text' }, routes: {} } });

/** A first line with the correct hash for the rest. */
function withHead(rest: string): string {
  return `{"format":2,"hash":"${createHash('sha256').update(rest).digest('hex')}",\n${rest}`;
}

test('the output of the compiler is read back unchanged', async () => {
  assert.deepEqual(await load(text), table);
  const empty = routeTable({});
  assert.deepEqual(await load(empty.text), empty.table);
  const one = routeTable({ routes: { only: {} } });
  assert.deepEqual(await load(one.text), one.table);
});

test('the same content in another layout is read too', async () => {
  const { format, hash, ...rest } = table;
  assert.equal(format, 2);
  const compact = `${JSON.stringify(rest).slice(1)}\n`;
  const { hash: other, ...read } = (await load(withHead(compact))) as typeof table;
  assert.notEqual(other, hash);
  assert.deepEqual(read, { format: 2, ...rest });
});

test('a table whose hash is in service is not parsed again', async () => {
  assert.equal(await load(text, table.hash), 'same');
});

const broken: readonly (readonly [name: string, bytes: string, message: RegExp])[] = [
  ['an empty file', '', /^/],
  ['a file that is something else', '{"routes":{}}', /^/],
  ['a table of a later version', text.replace('"format":2', '"format":3'), /\b3\b.*\b2\b/],
  ['a half-written table', text.slice(0, text.length / 2), /\bhash\b/],
  ['a table without its last byte', text.slice(0, -1), /\bhash\b/],
  ['an edited table', text.replace('127.0.0.1', '0.0.0.0'), /\bhash\b/],
  ['rubbish with a right hash', withHead('"server":'), /\bJSON\b/],
];

for (const [name, bytes, message] of broken) {
  test(`${name} is rejected`, () => assert.rejects(load(bytes), { name: 'TableError', message }));
}
