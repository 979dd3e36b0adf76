/** Commands open and close the store while a server in another process writes to it, and the server is then killed. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCommandStore } from '../../../runtime/store/sqlite-store.ts';
import { nodeArgv } from '../../helpers/node-argv.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const [NODE = '', ...ENTRY] = nodeArgv(new URL('../../helpers/store-process.js', import.meta.url));

test('a command that closes the store takes nothing from a running server', async (t) => {
  const path = join(tempDir(t), 'state.db');
  const start = (...args: readonly string[]) =>
    spawn(NODE, [...ENTRY, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const server = start('server', path);
  t.after(() => server.kill('SIGKILL'));
  const store = async (id: string): Promise<void> => {
    server.stdin.write(`${id}\n`);
    const [said] = (await once(server.stdout, 'data')) as [Buffer];
    assert.equal(said.toString(), `${id} stored\n`);
  };
  await store('a');
  const log = statSync(`${path}-wal`).ino;
  for (const id of ['b', 'c']) {
    await once(start('command', path, id), 'exit');
    assert.equal(statSync(`${path}-wal`).ino, log, 'the log is still the one the server writes to');
  }
  await store('d');
  server.kill('SIGKILL');
  await once(server, 'exit');
  const after = openCommandStore(path);
  t.after(() => after.close());
  assert.deepEqual(
    after.list({ limit: 9 }).map(({ id }) => id),
    ['d', 'c', 'b', 'a'],
  );
});
