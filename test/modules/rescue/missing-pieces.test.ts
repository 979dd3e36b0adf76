/** A store with a missing piece, after a kill and a disk error or manual change: the loss is reported. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { notePath } from '../../../runtime/store/store-path.ts';
import { walFrames } from '../../faults/wal.ts';
import { makeAccept } from '../../helpers/dispatches.ts';
import { openOfflineStore } from '../../helpers/rescued-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SUFFIXES = ['', '-wal', '-shm', '-wal.id', '.id'];

interface Home {
  readonly path: string;
  /** A copy of the file from after its first life. */
  readonly older: string;
}

/** Five events of a process that was stopped, and five of one that was killed. */
async function killed(t: TestContext): Promise<Home> {
  const dir = tempDir(t);
  const [from, path, older] = ['open.db', 'state.db', 'older.db'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ];
  const first = await openOfflineStore(from);
  for (let n = 0; n < 5; n++) await first.write(makeAccept(`before ${n}`));
  await first.close();
  copyFileSync(from, older);
  const second = await openOfflineStore(from);
  t.after(() => second.close());
  for (let n = 0; n < 5; n++) await second.write(makeAccept(`later ${n}`));
  for (const suffix of SUFFIXES) copyFileSync(from + suffix, path + suffix);
  return { path, older };
}

async function reopen(path: string): Promise<{ readonly events: number; readonly said: string | null }> {
  const store = await openOfflineStore(path);
  try {
    const { length } = await store.read({ kind: 'list', filter: { limit: 99 } });
    const { damage } = await store.read({ kind: 'overview', now: 0 });
    return { events: length, said: damage?.message ?? null };
  } finally {
    await store.close();
  }
}

const cut = (path: string, share: number): void => {
  const frames = walFrames(readFileSync(`${path}-wal`));
  truncateSync(`${path}-wal`, frames[Math.floor(frames.length * share)]?.at ?? 0);
};

const LOG: Readonly<Record<string, (path: string) => void>> = {
  deleted: (path) => rmSync(`${path}-wal`),
  emptied: (path) => truncateSync(`${path}-wal`),
  zeroed: (path) => writeFileSync(`${path}-wal`, Buffer.alloc(readFileSync(`${path}-wal`).length)),
  'cut after its header': (path) => cut(path, 0),
  'deleted with its index': (path) => {
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix);
  },
};

describe('after a kill', () => {
  for (const [how, spoil] of Object.entries(LOG)) {
    it(`reports a log that was ${how}`, async (t) => {
      const { path } = await killed(t);
      spoil(path);
      const { events, said } = await reopen(path);
      assert.equal(events, 5);
      assert.notEqual(said, null);
    });
  }

  it('reports a log that lacks its last commit, because its index knows the length', async (t) => {
    const { path } = await killed(t);
    cut(path, 0.8);
    const { events, said } = await reopen(path);
    assert.ok(events > 5 && events < 10, `${events} events`);
    assert.notEqual(said, null);
  });

  it('does not report a whole log as damaged, with or without its index', async (t) => {
    for (const suffix of [null, '-shm']) {
      const { path } = await killed(t);
      if (suffix !== null) rmSync(path + suffix);
      assert.deepEqual(await reopen(path), { events: 10, said: null });
    }
  });

  it('does not apply a log to an older copy of the file, even without an index', async (t) => {
    const { path, older } = await killed(t);
    const log = readFileSync(`${path}-wal`);
    rmSync(`${path}-shm`);
    copyFileSync(older, path);
    const { events, said } = await reopen(path);
    assert.equal(events, 5);
    assert.notEqual(said, null);
    assert.ok(!existsSync(`${path}-wal`) || !readFileSync(`${path}-wal`).equals(log));
  });

  it('does not apply a log of another home, even if its mark was copied with it', async (t) => {
    const [{ path }, other] = [await killed(t), await killed(t)];
    for (const suffix of ['-wal', '-wal.id']) copyFileSync(other.path + suffix, path + suffix);
    rmSync(`${path}-shm`);
    const { events, said } = await reopen(path);
    assert.equal(events, 5);
    assert.notEqual(said, null);
  });

  it('does not mistake the file for another one because of a damaged note', async (t) => {
    for (const bytes of ['', 'x', '\0\0\0\0', `${'a'.repeat(36)} 99 0123456789abcdef\n`]) {
      const { path } = await killed(t);
      writeFileSync(notePath(path), bytes);
      assert.deepEqual(await reopen(path), { events: 10, said: null });
    }
  });
});

describe('a home that had a store', () => {
  it('does not create another one when the file is missing or empty', async (t) => {
    for (const spoil of [(path: string) => rmSync(path), (path: string) => truncateSync(path)]) {
      const { path } = await killed(t);
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix);
      spoil(path);
      await assert.rejects(reopen(path), /store restore <file>.*store new/);
    }
  });

  it('reports once that its file is an older copy', async (t) => {
    const { path, older } = await killed(t);
    await reopen(path);
    copyFileSync(older, path);
    for (let opening = 0; opening < 2; opening++) {
      assert.notEqual((await reopen(path)).said, null);
      // Another copy would mean that its index was removed while this process has it open.
      assert.equal(readdirSync(dirname(path)).filter((name) => name.includes('.damaged-')).length, 1);
    }
    const store = await openOfflineStore(path);
    await store.write(makeAccept('new'));
    await store.close();
    assert.equal((await reopen(path)).events, 6);
  });
});
