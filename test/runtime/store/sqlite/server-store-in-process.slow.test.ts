import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEntry } from '../../../../runtime/platform/process/threads.ts';
import type { Store } from '../../../../runtime/store/contract.ts';
import { StoreInDoubt, StoreUnavailable } from '../../../../runtime/store/contract.ts';
import type { ServerStoreOptions } from '../../../../runtime/store/sqlite/open-store.ts';
import { HOLDER, makeAccept, makeAdvance, makeDispatch, makeTake } from '../../../helpers/dispatches.ts';
import { until } from '../../../helpers/gateway.ts';
import { recordLog, silentLog } from '../../../helpers/log.ts';
import { nodeArgv } from '../../../helpers/node-argv.ts';
import { openOfflineStore, openServerStore } from '../../../helpers/rescued-store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import type { DyingWriterData } from './dying-writer.ts';

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

describe('a server and its store', () => {
  it('writes and reads on threads, and leaves everything in one file when it stops', async (t) => {
    const path = join(tempDir(t), 'home', 'state.db');
    const store = await openIn(t, path);
    const text = `${'x'.repeat(50_000)}\0"é\n`;
    const dispatch = makeDispatch('a', { prompt: text });
    const stored = await store.write(makeAccept('a', { dispatch }));
    assert.ok(stored.kind === 'stored');
    const { ref } = stored;
    assert.deepEqual((await store.read({ kind: 'load', ref }))?.dispatch, dispatch);
    for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(path + suffix).mode & 0o777, 0o600, suffix);
    assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
    await store.write(makeTake(1000));
    await store.write(makeAdvance(ref, 'done', 2000, { answer: text }));
    await store.close();
    await assert.rejects(store.write(makeAccept('late')), StoreUnavailable);
    await assert.rejects(store.read({ kind: 'audit' }), StoreUnavailable);
    assert.equal(existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0, 0);
    const again = await openIn(t, path);
    const found = await again.read({ kind: 'load', ref });
    assert.deepEqual([found?.answer, found?.dispatch], [text, dispatch]);
    assert.deepEqual(await again.read({ kind: 'audit' }), []);
  });

  it('returns results in order, and stores everything that was written before it was closed', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const store = await openIn(t, path);
    const order: number[] = [];
    const writes = Array.from({ length: 200 }, (_, n) => store.write(makeAccept(`e${n}`)).then(() => order.push(n)));
    await store.close();
    await Promise.all(writes);
    assert.deepEqual(order, [...order.keys()]);
    const offline = await openOfflineStore(path);
    t.after(() => offline.close());
    assert.equal((await offline.read({ kind: 'list', filter: { limit: 999 } })).length, 200);
  });

  it('excludes other processes as long as it lives, however it ends', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const server = start(t, 'server', path);
    await until(async () => server.said() === 'open\n');
    server.stdin?.write('a\n');
    await until(async () => server.said().includes('a stored'));
    const waiting = openOfflineStore(path);
    await sleep(300);
    server.kill('SIGKILL');
    const store = await waiting;
    t.after(() => store.close());
    const found = await store.read({ kind: 'find', id: 'a' });
    assert.equal(found.kind, 'found');
  });
});

describe('the writer thread', () => {
  const dying = (point: DyingWriterData['point'], path: string) => () =>
    startEntry(new URL('./dying-writer.js', import.meta.url), { path, point, marker: `${path}.died` });

  for (const point of ['applied', 'committed'] as const) {
    it(`that dies when its group is ${point} ends the store, and the next start resumes the stored work`, async (t) => {
      const path = join(tempDir(t), 'state.db');
      const before = await openOfflineStore(path);
      await before.write(makeAccept('a'));
      await before.close();
      const log = recordLog();
      const failed: string[] = [];
      const options = { log, failed: (reason: string) => failed.push(reason), writer: dying(point, path) };
      const store = await openIn(t, path, options);
      const written = [store.write(makeTake(1000)), store.write(makeAccept('late'))] as const;
      await assert.rejects(written[0], StoreInDoubt);
      await assert.rejects(written[1], StoreUnavailable);
      await assert.rejects(store.write(makeAccept('b')), StoreUnavailable);
      await assert.rejects(store.read({ kind: 'audit' }), StoreUnavailable);
      assert.equal(failed.length, 1);
      assert.equal(store.problem()?.message, failed[0]);
      assert.deepEqual(
        log.lines.map(({ fields }) => fields.reason),
        [failed[0]],
      );
      await store.close();
      const next = await openIn(t, path);
      const under_way = { runs: [], attempts: [] };
      const { runs } = await next.write({ kind: 'recover', holder: 'next', now: 2000, under_way });
      assert.equal(runs, point === 'committed' ? 1 : 0);
      assert.equal((await next.write(makeTake(2000))).runs.length, point === 'committed' ? 2 : 1);
      assert.deepEqual(await next.read({ kind: 'audit' }), []);
    });
  }
});

describe('the file', () => {
  it('is reported when it is deleted, and nothing more is acknowledged', async (t) => {
    const dir = tempDir(t);
    const path = join(dir, 'state.db');
    const log = recordLog();
    const store = await openIn(t, path, { log });
    await store.write(makeAccept('a'));
    await sleep(100);
    mkdirSync(join(dir, 'away'));
    const names = ['state.db', 'state.db-wal', 'state.db-shm'];
    const move = (from: string, to: string): void => {
      for (const name of names) renameSync(join(from, name), join(to, name));
    };
    move(dir, join(dir, 'away'));
    await until(async () => store.problem()?.kind === 'replaced');
    await assert.rejects(store.write(makeAccept('b')), StoreUnavailable);
    assert.match(log.lines.at(-1)?.fields.reason as string, /\bstate\.db\b/);
    move(join(dir, 'away'), dir);
    await until(async () => store.problem() === null);
    assert.equal((await store.write(makeAccept('b'))).kind, 'stored');
  });

  it('is also reported when its lock is deleted, because another server could open the store', async (t) => {
    const path = join(tempDir(t), 'state.db');
    const store = await openIn(t, path);
    await store.write(makeAccept('a'));
    await sleep(100);
    rmSync(`${path}.lock`);
    await until(async () => store.problem()?.kind === 'replaced');
    await assert.rejects(store.write(makeAccept('b')), StoreUnavailable);
  });

  it('is also reported when it is replaced by another one', async (t) => {
    const dir = tempDir(t);
    const path = join(dir, 'state.db');
    const store = await openIn(t, path);
    await store.write(makeAccept('a'));
    await sleep(100);
    writeFileSync(join(dir, 'backup'), 'another file');
    renameSync(join(dir, 'backup'), path);
    await until(async () => store.problem()?.kind === 'replaced');
  });
});

describe('the size of the store', () => {
  it('is limited by removing ended dispatches; new work is rejected if there are none', async (t) => {
    const store = await openIn(t, join(tempDir(t), 'state.db'));
    for (let n = 0; n < 30; n++) {
      const id = `e${String(n).padStart(2, '0')}`;
      await store.write(makeAccept(id, { dispatch: makeDispatch(id, { prompt: 'x'.repeat(40_000) }) }));
    }
    const { runs } = await store.write(makeTake(1000, { runs: 10 }));
    for (const { ref } of runs) await store.write(makeAdvance(ref, 'dead', 2000, { reason: 'x', holder: HOLDER }));
    const max_bytes = 600_000;
    const trim = () => store.write({ kind: 'trim', max_bytes, limit: 64 });
    assert.equal((await trim()).removed, 10);
    assert.equal(store.problem(), null, 'something had ended');
    assert.equal((await trim()).removed, 0);
    assert.equal(store.problem()?.kind, 'full');
    await assert.rejects(store.write(makeAccept('more')), StoreUnavailable);
    // Running work continues, and makes room.
    for (const { ref } of (await store.write(makeTake(3000))).runs) {
      await store.write(makeAdvance(ref, 'dead', 4000, { reason: 'x' }));
    }
    assert.ok((await trim()).bytes <= max_bytes);
    assert.equal(store.problem(), null);
    assert.equal((await store.write(makeAccept('more'))).kind, 'stored');
    assert.deepEqual(await store.read({ kind: 'audit' }), []);
  });
});
