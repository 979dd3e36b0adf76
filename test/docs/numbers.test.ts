/** Numbers that the pages give are those of the code. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/root.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** A page, what it says, and the lines of the code that make it true. */
const NUMBERS: readonly (readonly [page: string, words: string, file: string, ...lines: string[]])[] = [
  [
    'running',
    'At most 64 deliveries are in progress, 8 of them to one target',
    'runtime/dispatch/delivery-worker.ts',
    'MAX_ATTEMPTS = 64;',
    'MAX_PER_TARGET = 8;',
  ],
  ['backups', 'about 64 MB', 'runtime/store/sqlite/open-database.ts', 'WAL_BYTES = 64 * 1024 * 1024;'],
  ['backups', 'that have waited for 800 ms', 'runtime/store/group-commit.ts', 'TICK_MS = 100;', 'TOO_LONG = 8;'],
  [
    'observability',
    'a budget of 100 lines a minute and route',
    'runtime/intake/event-log.ts',
    'LINES = 100;',
    'MINUTE_MS = 60_000;',
  ],
  [
    'backups',
    'five for each route and minute',
    'modules/workbench/runtime/capture/keep.ts',
    'UNVERIFIED = 5;',
    'MINUTE_MS = 60_000;',
  ],
  ['changing-a-config', 'the last 1,000 kept requests', 'modules/workbench/cli/kept-tools.ts', 'GATE_REQUESTS = 1000;'],
  ['http', 'more than 16 KiB of headers', 'runtime/intake/server.ts', 'maxHeaderBytes: 16_384,'],
  ['subscriptions', 'At most 16 MiB are read', 'runtime/table/subscriptions.ts', 'MAX_BYTES = 16_777_216;'],
];

for (const [page, words, file, ...lines] of NUMBERS) {
  test(`docs/${page}.md: ${words}`, () => {
    const text = read(`docs/${page}.md`).replace(/\s+/g, ' ');
    assert.ok(text.includes(words), 'the page says something else: change the table above');
    for (const line of lines) assert.ok(read(file).includes(line), `${file} has no \`${line}\``);
  });
}

test('docs/blueprints.md: how many come with it', () => {
  const count = readdirSync(join(ROOT, 'catalog/blueprints')).length;
  assert.equal(count, 14);
  assert.ok(read('docs/blueprints.md').includes('Fourteen come with hookwright'));
});
