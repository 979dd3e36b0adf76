/** The findings of a server about its file after the previous process was killed, even if a command came first. */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DamageReport } from '../../../runtime/store/queries.ts';
import { connect } from '../../../runtime/store/sqlite/driver.ts';
import { walFrames } from '../../faults/wal.ts';
import { makeAccept } from '../../helpers/dispatches.ts';
import { recordLog } from '../../helpers/log.ts';
import { openOfflineStore, openServerStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const PAGE = 4096;

/** A database with events in it, and a log with more of them, as a killed process leaves them. */
async function killed(t: TestContext): Promise<string> {
  const dir = tempDir(t);
  const from = join(dir, 'open.db');
  const before = await openOfflineStore(from);
  for (let n = 0; n < 5; n++) await before.write(makeAccept(`before ${n}`));
  await before.close();
  const store = await openOfflineStore(from);
  t.after(() => store.close());
  for (let n = 0; n < 5; n++) await store.write(makeAccept(`later ${n}`));
  const path = join(dir, 'state.db');
  for (const suffix of ['', '-wal']) copyFileSync(from + suffix, path + suffix);
  return path;
}

/**
 * Damages a page that nothing reads at a start: a page of an index that lists use. @returns a function that repairs it
 */
async function spoilIndex(path: string): Promise<() => void> {
  await (await openOfflineStore(path)).close();
  const db = connect(path, { busyMs: 0 });
  const [page = 0] = db.query<[number]>("SELECT rootpage FROM sqlite_master WHERE name = 'dispatch_route'").get() ?? [];
  db.close();
  const at = (page - 1) * PAGE;
  const whole = Buffer.from(readFileSync(path).subarray(at, at + 64));
  const overwrite = (part: Buffer): void => {
    const bytes = readFileSync(path);
    part.copy(bytes, at);
    writeFileSync(path, bytes);
  };
  overwrite(Buffer.alloc(64, 0xff));
  return () => overwrite(whole);
}

function spoilLog(path: string): void {
  const bytes = readFileSync(`${path}-wal`);
  const at = (walFrames(bytes)[0]?.at ?? 0) + 100;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(`${path}-wal`, bytes);
}

/** Starts and stops a server. @returns the logged errors, and the damage that it reports once its file is checked */
async function serve(
  path: string,
): Promise<{ readonly errors: readonly string[]; readonly damage: DamageReport | null }> {
  const log = recordLog();
  const store = await openServerStore({ path, durability: 'full', log });
  const isUnchecked = (): boolean => {
    const db = connect(path, { busyMs: 1000 });
    try {
      return db.query("SELECT 1 FROM meta WHERE key = 'unclean_stop_found'").get() !== undefined;
    } finally {
      db.close();
    }
  };
  while (isUnchecked()) await sleep(20);
  const { damage } = await store.read({ kind: 'overview', now: 0 });
  await store.close();
  return { errors: log.lines.filter(({ level }) => level === 'error').map(({ message }) => message), damage };
}

describe('after an unclean stop', () => {
  it('the whole file is checked, and nothing is reported when it is whole', async (t) => {
    assert.deepEqual(await serve(await killed(t)), { errors: [], damage: null });
  });

  it('damage of the file is an error in the log, once, and in the overview', async (t) => {
    const path = await killed(t);
    // Opening it as a command does merges the log into the file, and leaves the check to a server.
    await spoilIndex(path);
    const { errors, damage } = await serve(path);
    assert.equal(errors.length, 1);
    assert.match(errors[0] ?? '', /\bstate\.db\b/);
    assert.equal(damage?.message, errors[0]);
    assert.deepEqual(await serve(path), { errors: [], damage });
  });

  it('damage is no longer reported once a start has found the file whole again', async (t) => {
    const path = await killed(t);
    const repair = await spoilIndex(path);
    assert.notEqual((await serve(path)).damage, null);
    repair();
    const store = await openServerStore({ path, durability: 'full', log: recordLog() });
    t.after(() => store.close());
    while ((await store.read({ kind: 'overview', now: 0 })).damage !== null) await sleep(20);
  });

  for (const [when, command] of [
    ['', false],
    [', though a command has opened the file before', true],
  ] as const) {
    it(`loss with the log is an error in the log, once, and in the overview${when}`, async (t) => {
      const path = await killed(t);
      spoilLog(path);
      if (command) await (await openOfflineStore(path)).close();
      const { errors, damage } = await serve(path);
      assert.equal(errors.length, 1);
      assert.match(errors[0] ?? '', /\bstate\.db\b.*\b\d+\b/);
      assert.equal(damage?.message, errors[0]);
      assert.deepEqual(await serve(path), { errors: [], damage });
    });
  }
});
