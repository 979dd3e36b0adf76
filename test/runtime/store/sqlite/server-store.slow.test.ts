/** The SQLite store on a full disk, and with several processes. */

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../../../runtime/store/contract.ts';
import { StoreUnavailable } from '../../../../runtime/store/contract.ts';
import type { ServerStoreOptions } from '../../../../runtime/store/sqlite/open-store.ts';
import { makeAccept, makeDispatch, makeTake } from '../../../helpers/dispatches.ts';
import { until } from '../../../helpers/gateway.ts';
import { recordLog, silentLog } from '../../../helpers/log.ts';
import { nodeArgv } from '../../../helpers/node-argv.ts';
import { openOfflineStore, openServerStore } from '../../../helpers/rescued-store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { tinyDisk } from '../../../helpers/tiny-disk.ts';

async function openIn(t: TestContext, path: string, options: Partial<ServerStoreOptions> = {}): Promise<Store> {
  const store = await openServerStore({ path, durability: 'full', log: silentLog, ...options });
  t.after(() => store.close());
  return store;
}

const PROCESS = new URL('../../../helpers/store-process.js', import.meta.url);

function start(t: TestContext, ...args: readonly string[]): ChildProcess & { readonly said: () => string } {
  const [program = '', ...argv] = [...nodeArgv(PROCESS), ...args];
  const child = spawn(program, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  t.after(() => child.kill('SIGKILL'));
  return Object.assign(child, { said: () => said });
}

describe('a full disk', () => {
  const big = (id: string) => makeAccept(id, { dispatch: makeDispatch(id, { prompt: 'x'.repeat(20_000) }) });

  it('is reported, stores nothing, and recovers automatically', async (t) => {
    const disk = tinyDisk(t, '1m');
    if (disk === null) return t.skip('needs the right to mount a file system');
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(500_000));
    const log = recordLog();
    const store = await openIn(t, join(disk, 'state.db'), { log });
    const stored: string[] = [];
    for (let n = 0; store.problem() === null; n++) {
      const id = `fill${n}`;
      await store.write(big(id)).then(
        () => stored.push(id),
        (error) => assert.ok(error instanceof StoreUnavailable, String(error)),
      );
    }
    assert.ok(stored.length > 3, `${stored.length} stored`);
    assert.notEqual(store.problem(), null);
    await assert.rejects(store.write(big('refused')), StoreUnavailable);
    // Longer than the retry interval. A change with nothing to write succeeds, and proves nothing.
    await store.write(makeTake(0));
    await sleep(1200);
    assert.notEqual(store.problem(), null);
    rmSync(ballast);
    await until(async () => store.problem() === null);
    assert.deepEqual(
      log.lines.map(({ message }) => message),
      ['the store rejects changes', 'the store accepts changes again'],
    );
    await store.write(big('later'));
    const ids = (await store.read({ kind: 'list', filter: { limit: 999 } })).map(({ id }) => id);
    assert.deepEqual(ids, ['later', ...stored.reverse()]);
    assert.deepEqual(await store.read({ kind: 'audit' }), []);
  });

  it('at the start leaves the store unavailable until there is room', async (t) => {
    const disk = tinyDisk(t, '1m');
    if (disk === null) return t.skip('needs the right to mount a file system');
    const ballast = join(disk, 'ballast');
    try {
      writeFileSync(ballast, Buffer.alloc(2_000_000));
    } catch {
      // As much as there was room for.
    }
    const log = recordLog();
    const store = await openIn(t, join(disk, 'state.db'), { log });
    assert.equal(store.problem()?.kind, 'unavailable');
    await assert.rejects(store.write(makeAccept('a')), StoreUnavailable);
    await assert.rejects(openOfflineStore(join(disk, 'other.db')), StoreUnavailable);
    rmSync(ballast);
    await until(async () => store.problem() === null);
    assert.equal((await store.write(makeAccept('a'))).kind, 'stored');
    assert.deepEqual(
      log.lines.map(({ message }) => message),
      ['the store rejects changes', 'the store accepts changes again'],
    );
  });
});

it('any number of processes that start on a new home all work', async (t) => {
  const path = join(tempDir(t), 'new home', 'state.db');
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const children = ids.map((id) => start(t, 'command', path, id));
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'close'))[0] as number));
  assert.deepEqual(codes, [0, 0, 0, 0, 0]);
  // Two creates of one name meet in the store.
  assert.deepEqual(children.map((child) => child.said().trim()).sort(), [
    ...['tidy', 'tidy-2', 'tidy-3', 'tidy-4', 'tidy-5'],
  ]);
  const store = await openIn(t, path);
  assert.deepEqual((await store.read({ kind: 'list', filter: { limit: 9 } })).map(({ id }) => id).sort(), ids);
});
