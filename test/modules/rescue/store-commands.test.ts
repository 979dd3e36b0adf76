/**
 * Copies of the store are made and restored, and a store is replaced by an empty one; a second server reports the first
 * immediately.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect } from '../../../runtime/store/sqlite/driver.ts';
import { servedPath } from '../../../runtime/store/store-path.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { makeAccept } from '../../helpers/dispatches.ts';
import { startGateway } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { openOfflineStore, openServerStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-secret-of-a-store-that-is-copied
    routes:
      hello: { prompt: "Hello {name}" }
`;

async function add(home: string, ...ids: readonly string[]): Promise<void> {
  const store = await openOfflineStore(join(home, 'state.db'));
  for (const id of ids) await store.write(makeAccept(id));
  await store.close();
}

/** The path of the old store, as a command prints it on its last line. */
const keptFile = (stderr: string): string => /\/\S*state\.db\S+$/m.exec(stderr)?.[0] ?? '';

async function listed(home: string): Promise<readonly string[]> {
  const { stdout, stderr, code } = await runInProcess(['deliveries', 'list', '--json'], { home });
  assert.equal(code, 0, stderr);
  return (JSON.parse(stdout) as { readonly id: string }[]).map(({ id }) => id).sort();
}

describe('store backup', () => {
  it('copies the store of a running gateway: complete, checked, readable only by its owner, replacing no file', async (t) => {
    const home = tempDir(t);
    await add(home, 'a', 'b');
    const gateway = await startGateway(t, { home, config: CONFIG });
    const copy = join(tempDir(t), "it's a copy.db");
    const made = await gateway.cli('store', 'backup', copy, '--json');
    assert.equal(made.code, 0, made.stderr);
    assert.deepEqual(JSON.parse(made.stdout), { file: copy, bytes: statSync(copy).size });
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    const db = connect(copy, { busyMs: 0 });
    t.after(() => db.close());
    assert.deepEqual(db.query('PRAGMA integrity_check').all(), [['ok']]);
    assert.deepEqual(db.query('SELECT id FROM dispatch ORDER BY id').all(), [['a'], ['b']]);
    const { mtimeMs } = statSync(copy);
    assert.equal((await gateway.cli('store', 'backup', copy)).code, 1);
    assert.equal(statSync(copy).mtimeMs, mtimeMs);
    const restored = await gateway.cli('store', 'restore', copy);
    assert.deepEqual([restored.code, restored.stderr.includes('gateway stop')], [1, true]);
  });

  it('does the same for a home without a gateway, and leaves nothing of a failed copy', async (t) => {
    const home = tempDir(t);
    assert.equal((await runInProcess(['store', 'backup', 'x.db'], { home })).code, 1);
    await add(home, 'a');
    const folder = tempDir(t);
    assert.equal((await runInProcess(['store', 'backup', join(folder, 'x.db')], { home })).code, 0);
    assert.equal((await runInProcess(['store', 'backup', join(folder, 'no/x.db')], { home })).code, 1);
    assert.deepEqual(readdirSync(folder), ['x.db']);
  });

  it('names the tool of the database with PostgreSQL', async (t) => {
    const home = tempDir(t);
    writeFileSync(join(home, 'config.yaml'), 'gateway: { store: { postgres: env:DATABASE_URL } }\n');
    for (const [verb, tool] of [
      ['backup', 'pg_dump'],
      ['restore', 'pg_restore'],
    ] as const)
      assert.match((await runInProcess(['store', verb, 'x.db'], { home })).stderr, new RegExp(tool));
  });
});

describe('store restore', () => {
  it('restores the copy, renames the log of the old file, and reports no damage', async (t) => {
    const home = tempDir(t);
    await add(home, 'a');
    const copy = join(tempDir(t), 'copy.db');
    await runInProcess(['store', 'backup', copy], { home });
    await add(home, 'b');
    writeFileSync(join(home, 'state.db-wal'), 'what a kill has left');
    const { code, stderr } = await runInProcess(['store', 'restore', copy], { home });
    assert.equal(code, 0, stderr);
    const aside = keptFile(stderr);
    assert.ok(existsSync(aside) && existsSync(`${aside}-wal`) && !existsSync(join(home, 'state.db-wal')), stderr);
    assert.deepEqual(await listed(home), ['a']);
    const gateway = await startGateway(t, { home, config: CONFIG });
    assert.equal((await gateway.status()).store.damage, null);
  });

  it('restores a missing store, which a start refuses to create', async (t) => {
    const home = tempDir(t);
    await add(home, 'a');
    const copy = join(tempDir(t), 'copy.db');
    await runInProcess(['store', 'backup', copy], { home });
    rmSync(join(home, 'state.db'));
    await assert.rejects(add(home, 'b'), /store restore/);
    assert.equal((await runInProcess(['store', 'restore', copy], { home })).code, 0);
    assert.deepEqual(await listed(home), ['a']);
  });

  it('rejects an incomplete store, and changes nothing', async (t) => {
    const home = tempDir(t);
    await add(home, 'a');
    const folder = tempDir(t);
    const file = join(folder, 'x.db');
    for (const bytes of ['', 'no database', Buffer.alloc(8192)]) {
      writeFileSync(file, bytes);
      const { code, stderr } = await runInProcess(['store', 'restore', file], { home });
      assert.deepEqual([code, /^error: .*x\.db/.test(stderr)], [1, true], stderr);
    }
    mkdirSync(join(folder, 'folder'));
    assert.equal((await runInProcess(['store', 'restore', join(folder, 'folder')], { home })).code, 1);
    assert.deepEqual(await listed(home), ['a']);
    assert.deepEqual(
      readdirSync(home).filter((name) => /restoring|replaced/.test(name)),
      [],
    );
  });
});

describe('store new', () => {
  it('asks for confirmation, and starts with an empty store; the old one is kept', async (t) => {
    const home = tempDir(t);
    await add(home, 'a');
    assert.match((await runInProcess(['store', 'new'], { home })).stderr, /\n.*--yes/);
    assert.deepEqual(await listed(home), ['a']);
    const { code, stderr } = await runInProcess(['store', 'new', '--yes'], { home });
    assert.equal(code, 0, stderr);
    assert.ok(existsSync(keptFile(stderr)), stderr);
    await add(home, 'b');
    assert.deepEqual(await listed(home), ['b']);
  });
});

describe('a second server of a store', () => {
  it('is rejected immediately, even without the folder of the control socket', async (t) => {
    const home = tempDir(t);
    const gateway = await startGateway(t, { home, config: CONFIG });
    rmSync(join(home, 'run'), { recursive: true, force: true });
    const started = performance.now();
    const log = recordLog();
    await assert.rejects(openServerStore({ path: join(home, 'state.db'), durability: 'full', log }), {
      name: 'StoreRefused',
    });
    // Long before it would stop waiting for a command.
    assert.ok(performance.now() - started < 14_000);
    assert.ok(gateway.running !== null);
  });
});

describe('a store that is missing', () => {
  it('is reported as missing by every command, and not as empty', async (t) => {
    const home = tempDir(t);
    await add(home, 'a');
    rmSync(join(home, 'state.db'));
    for (const words of [
      ['deliveries', 'list'],
      ['job', 'list'],
      ['store', 'backup', 'x.db'],
    ]) {
      const { code, stderr } = await runInProcess(words, { home });
      assert.deepEqual([code, /store restore/.test(stderr)], [1, true], words.join(' '));
    }
    const { stdout } = await runInProcess(['doctor', '--json'], { home });
    const checks = JSON.parse(stdout) as { readonly subject: string; readonly status: string }[];
    assert.equal(checks.find(({ subject }) => subject === 'store')?.status, 'failed');
  });
});

describe('a gateway without its socket', () => {
  it('is named immediately, without waiting for it', { skip: process.platform !== 'linux' }, async (t) => {
    const home = tempDir(t);
    const path = join(home, 'state.db');
    const store = await openServerStore({ path, durability: 'full', log: recordLog() });
    t.after(() => store.close());
    const minuteAgo = new Date(Date.now() - 60_000);
    assert.ok(Date.now() - statSync(servedPath(path)).mtimeMs < 60_000);
    utimesSync(servedPath(path), minuteAgo, minuteAgo);
    const before = Date.now();
    assert.equal((await runInProcess(['deliveries', 'list'], { home })).code, 1);
    assert.ok(Date.now() - before < 14_000);
  });
});
