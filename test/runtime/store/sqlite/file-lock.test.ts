import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { tryLock, waitForLock } from '../../../../runtime/store/sqlite/file-lock.ts';
import { lockHolder } from '../../../../runtime/store/store-path.ts';
import { LOADER, moduleUrl } from '../../../helpers/node-argv.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const MODULE = moduleUrl(new URL('../../../../runtime/store/sqlite/file-lock.js', import.meta.url));

/** A process that takes the lock, prints that, and holds it until it is killed. */
async function holder(path: string): Promise<ChildProcess> {
  const code = `import { tryLock } from ${JSON.stringify(MODULE)}; console.log(tryLock(${JSON.stringify(path)}) !== null); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, [...LOADER, '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  assert.equal(String(line).trim(), 'true');
  return child;
}

test('a lock is held once, even within one process, and is free when released', (t) => {
  const path = join(tempDir(t), 'run', 'x.lock');
  const first = tryLock(path);
  assert.ok(first !== null);
  assert.equal(tryLock(path), null);
  first.release();
  first.release();
  const second = tryLock(path);
  assert.ok(second !== null);
  second.release();
});

test('kill -9 of the holder frees the lock, and a waiter gets it', async (t) => {
  const path = join(tempDir(t), 'x.lock');
  const child = await holder(path);
  assert.equal(tryLock(path), null);
  assert.equal(await waitForLock(path, 0, systemClock), null);
  const waiting = waitForLock(path, 5000, systemClock);
  child.kill('SIGKILL');
  const lock = await waiting;
  assert.ok(lock !== null);
  lock.release();
});

test('reports the process that holds a lock', { skip: process.platform !== 'linux' }, (t) => {
  const path = join(tempDir(t), 'x.lock');
  assert.equal(lockHolder(path), null);
  const lock = tryLock(path);
  assert.equal(lockHolder(path), process.pid);
  lock?.release();
  assert.equal(lockHolder(path), null);
});
