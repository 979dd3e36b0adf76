/** The exit of a process whose threads are inside the driver: it has its own exit code, and does not abort. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openOfflineStore } from '../../../helpers/rescued-store.ts';
import { ROOT } from '../../../helpers/root.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const urlOf = (file: string): string => JSON.stringify(pathToFileURL(join(ROOT, 'runtime', file)));

const THREAD = `
import { parentPort } from 'node:worker_threads';
import { connect } from ${urlOf('store/sqlite/driver.ts')};
import { serveThread } from ${urlOf('store/sqlite/thread.ts')};
const db = connect(':memory:', { busyMs: 0 });
const count = db.query('WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 500000) SELECT max(n) FROM t');
serveThread(parentPort, () => count.get());
`;

const MAIN = `
import { ThreadClient } from ${urlOf('store/sqlite/thread.ts')};
import { startEntry } from ${urlOf('platform/process/threads.ts')};
const client = new ThreadClient(() => startEntry(new URL('./thread.js', import.meta.url), null), () => {});
await client.ask('load');
const asked = setInterval(() => void client.ask('again').catch(() => {}), 1);
setTimeout(() => {
  clearInterval(asked);
  process.exit(7);
}, 300);
`;

test('a process that exits while a thread is in a call of the driver ends with its own code', async (t) => {
  const folder = tempDir(t);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'thread.ts'), THREAD);
  writeFileSync(join(folder, 'main.mts'), MAIN);
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), join(folder, 'main.mts')], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  assert.deepEqual([code, said], [7, '']);
});

const SERVER = `
import { openServerStore } from ${JSON.stringify(pathToFileURL(join(ROOT, 'test/helpers/rescued-store.ts')))};
import { makeAccept } from ${JSON.stringify(pathToFileURL(join(ROOT, 'test/helpers/dispatches.ts')))};
const say = () => {};
const log = { debug: say, info: say, warn: say, error: say };
const store = await openServerStore({ path: process.argv[2], durability: 'full', log });
await store.write(makeAccept('one'));
process.exit(7);
`;

test('a process that exits without closing its store loses nothing, and the next start reports no loss', async (t) => {
  const folder = tempDir(t);
  writeFileSync(join(folder, 'main.mts'), SERVER);
  const path = join(folder, 'state.db');
  const argv = ['--import', import.meta.resolve('tsx'), join(folder, 'main.mts'), path];
  const child = spawn(process.execPath, argv, { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  assert.deepEqual([code, said], [7, '']);
  const store = await openOfflineStore(path);
  t.after(() => store.close());
  assert.equal((await store.read({ kind: 'list', filter: { limit: 9 } })).length, 1);
  assert.equal((await store.read({ kind: 'overview', now: 0 })).damage, null);
});
