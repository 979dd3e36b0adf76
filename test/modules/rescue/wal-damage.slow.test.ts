import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { walkLog } from '../../../modules/rescue/runtime/wal-damage.ts';
import { connect } from '../../../runtime/store/sqlite/driver.ts';
import { walFrames } from '../../faults/wal.ts';
import { makeAccept } from '../../helpers/dispatches.ts';
import { openOfflineStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { tinyDisk } from '../../helpers/tiny-disk.ts';

const FRAME = 24 + 4096;
const EVENTS = 12;

/** The files of a killed process: a database, and a log in which each event was a separate commit. */
async function killed(
  t: TestContext,
  events = EVENTS,
): Promise<{ readonly path: string; readonly wal: string; readonly frames: number }> {
  const dir = tempDir(t);
  const from = join(dir, 'open.db');
  const store = await openOfflineStore(from);
  t.after(() => store.close());
  for (let n = 0; n < events; n++) await store.write(makeAccept(`e${String(n).padStart(2, '0')}`));
  const path = join(dir, 'state.db');
  for (const suffix of ['', '-wal']) copyFileSync(from + suffix, path + suffix);
  const wal = `${path}-wal`;
  return { path, wal, frames: walFrames(readFileSync(wal)).length };
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 0x10;
  writeFileSync(file, bytes);
}

const frameAt = (n: number): number => 32 + n * FRAME;

/** Opens the existing store. @returns its number of events, and the reported damage */
async function reopen(path: string) {
  const store = await openOfflineStore(path);
  const events = (await store.read({ kind: 'list', filter: { limit: 99 } })).length;
  const { damage } = await store.read({ kind: 'overview', now: 0 });
  await store.close();
  return { events, damage };
}

describe('the log of a killed process', () => {
  it('is not damaged when it is whole', async (t) => {
    const { path, wal } = await killed(t);
    assert.equal(walkLog(wal).lost, 0);
    assert.deepEqual(await reopen(path), { events: EVENTS, damage: null });
  });

  it('is not damaged when its end is torn, at any position', async (t) => {
    const { path, wal, frames } = await killed(t);
    for (const cut of [1, 100, FRAME - 1, FRAME, FRAME + 7]) {
      truncateSync(wal, frameAt(frames) - cut);
      assert.equal(walkLog(wal).lost, 0, `${cut} bytes`);
    }
    const { events, damage } = await reopen(path);
    assert.deepEqual([events, damage], [EVENTS - 1, null]);
  });

  it('is not damaged when older frames, or zeros, are behind its end', async (t) => {
    const { wal, frames } = await killed(t);
    const bytes = readFileSync(wal);
    // The header of the next use of the same file: other salts.
    const older = Buffer.from(bytes.subarray(frameAt(0)));
    for (let n = 0; n < frames; n++) older.writeUInt32BE(n, n * FRAME + 8);
    writeFileSync(wal, Buffer.concat([bytes, older, Buffer.alloc(5 * FRAME)]));
    assert.equal(walkLog(wal).lost, 0);
  });

  for (const [what, place] of [
    ['a page', (n: number): number => frameAt(n) + 24 + 1000],
    ['a checksum', (n: number): number => frameAt(n) + 17],
    ['a salt', (n: number): number => frameAt(n) + 9],
    ['a page number', (n: number): number => frameAt(n) + 3],
  ] as const) {
    it(`is damaged when a bit of ${what} in the middle is wrong: it is quarantined and reported`, async (t) => {
      const { path, wal, frames } = await killed(t);
      flip(wal, place(Math.floor(frames / 2)));
      const damaged = readFileSync(wal);
      assert.ok(walkLog(wal).lost >= 3, `${walkLog(wal).lost} commits`);
      const { events, damage } = await reopen(path);
      assert.ok(events < EVENTS);
      assert.match(damage?.message ?? '', /\bstate\.db\b.*\b\d+\b/);
      assert.ok(damage?.copy?.startsWith(`${path}.damaged-`));
      assert.deepEqual(readFileSync(`${damage?.copy}-wal`), damaged);
      assert.ok(existsSync(damage?.copy ?? ''));
      // Quarantined once, and reported until the copy is removed.
      assert.deepEqual((await reopen(path)).damage, damage);
      assert.equal(readdirSync(join(path, '..')).filter((name) => /damaged-.*-wal$/.test(name)).length, 1);
      rmSync(damage?.copy ?? '');
      assert.equal((await reopen(path)).damage, null);
    });
  }

  it('is damaged whichever byte of it is wrong, unless that is in its last frame', async (t) => {
    const { wal, frames } = await killed(t, 3);
    const bytes = readFileSync(wal);
    const heads = Array.from({ length: frames - 1 }, (_, n) => Array.from({ length: 24 }, (_, at) => frameAt(n) + at));
    const pages = Array.from({ length: frames - 1 }, (_, n) => frameAt(n) + 24 + ((n * 577) % 4096));
    for (const at of [...Array(32).keys(), ...heads.flat(), ...pages]) {
      for (const bit of [1, 128]) {
        const spoilt = Buffer.from(bytes);
        spoilt[at] = (spoilt[at] ?? 0) ^ bit;
        writeFileSync(wal, spoilt);
        assert.ok(walkLog(wal).lost > 0, `bit ${bit} of byte ${at}`);
      }
    }
  });

  it('is reported, and not copied, if a copy would take the room that the store needs', async (t) => {
    const disk = tinyDisk(t, '1m');
    if (disk === null) return t.skip('needs the right to mount a file system');
    const { path, wal } = await killed(t);
    for (const file of [path, wal]) copyFileSync(file, join(disk, basename(file)));
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(320_000));
    flip(join(disk, basename(wal)), 100);
    const { damage } = await reopen(join(disk, basename(path)));
    assert.notEqual(damage, null);
    assert.equal(damage?.copy, null);
    assert.deepEqual(
      readdirSync(disk).filter((name) => name.includes('damaged')),
      [],
    );
  });

  it('is dropped if the file is newer than the readable part of the log', async (t) => {
    const { path, wal } = await killed(t);
    const from = join(dirname(path), 'open.db');
    // Merges the whole log into the file, and leaves it and its index unchanged.
    const db = connect(from, { busyMs: 0 });
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    for (const suffix of ['', '-wal', '-shm']) copyFileSync(from + suffix, path + suffix);
    db.close();
    flip(wal, frameAt(1) + 100);
    const { events, damage } = await reopen(path);
    assert.equal(events, EVENTS);
    assert.notEqual(damage, null);
  });

  for (const zeroed of [32, 512, 4096, 4096 + 512]) {
    it(`is damaged when its first ${zeroed} bytes are zero`, async (t) => {
      const { path, wal } = await killed(t);
      writeFileSync(wal, Buffer.concat([Buffer.alloc(zeroed), readFileSync(wal).subarray(zeroed)]));
      assert.ok(walkLog(wal).lost >= EVENTS - 2);
      assert.notEqual((await reopen(path)).damage, null);
    });
  }

  it('is not damaged when it is all zeros', async (t) => {
    const { wal } = await killed(t);
    writeFileSync(wal, Buffer.alloc(20 * FRAME));
    assert.equal(walkLog(wal).lost, 0);
  });

  for (const [what, bytes] of [
    ['empty', 0],
    ['a header alone', 32],
  ] as const) {
    it(`is not damaged when it is ${what}, because the kill came in the first commit after it was emptied`, async (t) => {
      const { path, wal } = await killed(t);
      const from = join(dirname(path), 'open.db');
      const header = Buffer.alloc(bytes, 0xff);
      const db = connect(from, { busyMs: 0 });
      t.after(() => db.close());
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      for (const suffix of ['', '-wal', '-shm', '.id']) copyFileSync(from + suffix, path + suffix);
      writeFileSync(wal, header);
      assert.deepEqual(await reopen(path), { events: EVENTS, damage: null });
    });
  }

  it('is quarantined when it belongs to the file before a restore, and the restored file is whole', async (t) => {
    const { path } = await killed(t);
    const from = join(dirname(path), 'open.db');
    const db = connect(from, { busyMs: 0 });
    t.after(() => db.close());
    const backup = join(dirname(path), 'backup.db');
    db.exec(`VACUUM INTO '${backup}'`);
    db.exec("INSERT INTO meta VALUES ('later', hex(zeroblob(20000)))");
    db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    for (const suffix of ['', '-wal', '-shm']) copyFileSync(from + suffix, path + suffix);
    const log = readFileSync(`${path}-wal`);
    assert.deepEqual(await reopen(path), { events: EVENTS, damage: null }, 'its own log is applied');
    const restored = join(dirname(path), 'restored.db');
    for (const suffix of ['-wal', '-shm']) copyFileSync(from + suffix, restored + suffix);
    copyFileSync(backup, restored);
    const { events, damage } = await reopen(restored);
    assert.equal(events, EVENTS);
    assert.deepEqual(readFileSync(damage?.copy ?? ''), log);
    const whole = connect(restored, { busyMs: 0 });
    t.after(() => whole.close());
    assert.deepEqual(whole.query('PRAGMA quick_check').get(), ['ok']);
  });

  for (const [what, checkpoint] of [
    ['alone', ''],
    ['and was checkpointed', 'PRAGMA wal_checkpoint(PASSIVE)'],
  ] as const) {
    it(`is applied when it begins with a change of the schema ${what}`, async (t) => {
      const dir = tempDir(t);
      const [from, path] = ['open.db', 'state.db'].map((name) => join(dir, name)) as [string, string];
      const store = await openOfflineStore(from);
      await store.write(makeAccept('e'));
      await store.close();
      const db = connect(from, { busyMs: 0 });
      t.after(() => db.close());
      db.exec(`PRAGMA wal_autocheckpoint = 0; CREATE TABLE a (b); CREATE INDEX c ON a (b); ${checkpoint}`);
      for (const suffix of ['', '-wal', '.id']) copyFileSync(from + suffix, path + suffix);
      assert.deepEqual(await reopen(path), { events: 1, damage: null });
      const after = connect(path, { busyMs: 0 });
      t.after(() => after.close());
      assert.deepEqual(after.query('SELECT count(*) FROM a').get(), [0]);
    });
  }

  it('is left unchanged without its database, and the start is rejected', async (t) => {
    const { path, wal } = await killed(t);
    const log = readFileSync(wal);
    rmSync(path);
    await assert.rejects(reopen(path), /\bstate\.db\b.*store restore <file>.*store new/);
    assert.deepEqual(readFileSync(wal), log);
  });

  it('is damaged when its header is wrong', async (t) => {
    const { path, wal } = await killed(t);
    flip(wal, 16);
    assert.ok(walkLog(wal).lost >= EVENTS);
    const { events, damage } = await reopen(path);
    assert.equal(events, 0);
    assert.ok(damage !== null);
  });
});
