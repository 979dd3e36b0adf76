/** The journal's files: what is read is what was written, whatever a kill or a loss of power has left of them. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import Database from 'libsql';
import { readHead, readRecord, writeHead, writeRecord } from '../../../runtime/store/journal/format.ts';
import type { JournalOptions, Place } from '../../../runtime/store/journal/journal.ts';
import { Journal } from '../../../runtime/store/journal/journal.ts';
import { JournalReader } from '../../../runtime/store/journal/read-journal.ts';
import { readSegment, segmentPath } from '../../../runtime/store/journal/segments.ts';
import { acceptText } from '../../../runtime/store/sqlite/batch-text.ts';
import { createTransactions } from '../../../runtime/store/sqlite/commit.ts';
import { Follower } from '../../../runtime/store/sqlite/follower.ts';
import { migrate } from '../../../runtime/store/sqlite/migrations.ts';
import { openDatabase } from '../../../runtime/store/sqlite/open-database.ts';
import { createReader } from '../../../runtime/store/sqlite/reader.ts';
import { openCommandStore, openStoreReader } from '../../../runtime/store/sqlite-store.ts';
import { makeAccept } from '../../helpers/dispatches.ts';
import { openJournaledStore } from '../../helpers/journaled-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { tinyDisk } from '../../helpers/tiny-disk.ts';
import { accept } from './store-contract.ts';

const STORE = '0123456789abcdef0123456789abcdef';

function setUp(
  t: TestContext,
  options: Partial<JournalOptions> = {},
): { readonly path: string; readonly journal: Journal } {
  const path = join(tempDir(t), 'state.db');
  let salt = 7;
  const journal = new Journal({ path, store: STORE, last: 0, salt: () => salt++, ...options });
  t.after(() => journal.close(false));
  return { path, journal };
}

const textsIn = (path: string, index: 0 | 1): readonly string[] =>
  readSegment(path, index)?.records.map(({ text }) => text) ?? [];

describe('a record', () => {
  const record = { number: 2 ** 40 + 1, text: 'Grüße \0 and \u{1f600}' };
  const bytes = writeRecord(record, 7);

  it('reads as it was written', () => {
    assert.deepEqual(readRecord(Buffer.concat([Buffer.from('x'), bytes]), 1, 7), { record, end: bytes.length + 1 });
  });

  it('is the same wherever it is laid out, should there be room', () => {
    for (const length of [16, 60, 200]) {
      const room = Buffer.alloc(length, 0xff);
      assert.deepEqual(writeRecord(record, 7, room), bytes, `${length} bytes`);
    }
  });

  it('does not read when any of its bytes is another, is missing, or was written under another salt', () => {
    for (let at = 0; at < bytes.length; at++) {
      const torn = Buffer.from(bytes);
      torn[at] = (torn[at] ?? 0) ^ 1;
      assert.equal(readRecord(torn, 0, 7), null, `byte ${at}`);
      assert.equal(readRecord(bytes.subarray(0, at), 0, 7), null, `${at} bytes`);
    }
    assert.equal(readRecord(bytes, 0, 8), null);
  });
});

it('the head of a segment reads as it was written, and not when it is torn', () => {
  const head = { salt: 0xffffffff, store: STORE };
  const bytes = writeHead(head);
  assert.deepEqual(readHead(bytes), head);
  for (let at = 0; at < bytes.length; at++) {
    const torn = Buffer.from(bytes);
    torn[at] = (torn[at] ?? 0) ^ 1;
    assert.equal(readHead(torn), null, `byte ${at}`);
  }
  assert.equal(readHead(bytes.subarray(0, -1)), null);
});

describe('the journal', () => {
  it('is readable by its owner alone, and gone once nothing in it is needed', (t) => {
    const { path, journal } = setUp(t);
    journal.append('a');
    assert.equal(statSync(segmentPath(path, 0)).mode & 0o777, 0o600);
    journal.close(true);
    assert.equal(existsSync(segmentPath(path, 0)), false);
  });

  it('ends where it was torn', (t) => {
    const { path, journal } = setUp(t);
    const ends = ['one', 'two', 'three'].map((text) => journal.append(text).end);
    const whole = readFileSync(segmentPath(path, 0));
    for (let length = 0; length <= (ends.at(-1) ?? 0); length++) {
      writeFileSync(segmentPath(path, 0), whole);
      truncateSync(segmentPath(path, 0), length);
      const expected = ['one', 'two', 'three'].filter((_, index) => (ends[index] ?? 0) <= length);
      assert.deepEqual(textsIn(path, 0), expected, `${length} bytes`);
    }
  });

  it('takes its segments in turns, and begins one anew only when all in it is safe', (t) => {
    const { path, journal } = setUp(t, { segmentBytes: 64 * 1024 + 200 });
    const fill = (name: string): number => {
      let number = 0;
      for (let n = 0; !journal.isLong; n++) number = journal.append(`${name}${n}`).number;
      return number;
    };
    const a = fill('a');
    assert.equal(journal.canTurn(0), true);
    journal.turn();
    const b = fill('b');
    assert.deepEqual([journal.canTurn(0), journal.canTurn(a - 1), journal.canTurn(a)], [false, false, true]);
    journal.turn();
    // What was there before, in the same places, is not read any more.
    assert.deepEqual(textsIn(path, 0), []);
    assert.equal(journal.append('c0').number, b + 1);
    assert.deepEqual(textsIn(path, 0), ['c0']);
    assert.equal(textsIn(path, 1).at(-1)?.startsWith('b'), true);
  });

  it('keeps nothing of what a full disk refused, and goes on once there is space', (t) => {
    const disk = tinyDisk(t, '256k');
    if (disk === null) return t.skip('needs the right to mount a file system');
    const path = join(disk, 'state.db');
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(100_000));
    const journal = new Journal({ path, store: STORE, last: 0, salt: () => 7, segmentBytes: 70_000 });
    t.after(() => journal.close(false));
    const text = 'x'.repeat(10_000);
    const taken: number[] = [];
    assert.throws(() => {
      for (;;) taken.push(journal.append(text).number);
    }, /ENOSPC/);
    assert.ok(taken.length > 5, `${taken.length}`);
    assert.deepEqual(textsIn(path, 0).length, taken.length);
    rmSync(ballast);
    assert.equal(journal.append('later').number, taken.length + 1);
    assert.equal(textsIn(path, 0).at(-1), 'later');
  });

  it('leaves nothing of a segment for which there is no space', (t) => {
    const disk = tinyDisk(t, '256k');
    if (disk === null) return t.skip('needs the right to mount a file system');
    const path = join(disk, 'state.db');
    const journal = new Journal({ path, store: STORE, last: 0, salt: () => 7 });
    t.after(() => journal.close(false));
    assert.throws(() => journal.append('a'), /ENOSPC/);
    assert.equal(existsSync(segmentPath(path, 0)), false);
  });
});

describe('a reader of the journal', () => {
  it('goes from record to record and from segment to segment, wherever it begins', (t) => {
    const { path, journal } = setUp(t, { segmentBytes: 64 * 1024 + 200 });
    const places: Place[] = [];
    let safe = 0;
    const early = new JournalReader(path, 0);
    const read: string[] = [];
    for (let n = 0; n < 60; n++) {
      if (journal.isLong && journal.canTurn(safe)) journal.turn();
      const place = journal.append(`record ${n}`);
      places.push(place);
      // It follows in leaps, and only what it has read is safe.
      if (n % 7 === 6) {
        while (safe < place.number) {
          const { number, text } = early.next(place);
          read.push(text);
          safe = number;
        }
      }
    }
    assert.deepEqual(
      read,
      Array.from({ length: 56 }, (_, n) => `record ${n}`),
    );
    assert.ok(new Set(places.map(({ segment }) => segment)).size === 2);
    const last = places.at(-1) as Place;
    const late = new JournalReader(path, 58);
    assert.equal(late.next(last).text, 'record 58');
    early.restart(57);
    assert.equal(early.next(last).text, 'record 57');
    assert.throws(() => new JournalReader(path, 3).next(last), /record 4 is not in the journal/);
    early.close();
    late.close();
  });
});

describe('a journal that was left behind', () => {
  const leave = async (t: TestContext): Promise<string> => {
    const path = join(tempDir(t), 'state.db');
    const store = openJournaledStore(path);
    for (const id of ['a', 'b', 'c']) await accept(store, id);
    await store.close();
    return path;
  };
  const ids = (path: string): readonly string[] => {
    const reader = openStoreReader(path);
    try {
      return reader
        .list({ limit: 9 })
        .map(({ id }) => id)
        .reverse();
    } finally {
      reader.close();
    }
  };

  it('is in the tables after the next start, and then gone', async (t) => {
    const path = await leave(t);
    assert.equal(existsSync(segmentPath(path, 0)), true);
    assert.deepEqual(ids(path), ['a', 'b', 'c']);
    assert.equal(existsSync(segmentPath(path, 0)), false);
  });

  it('gives back a prefix when it is torn, and no more is lost than the tear', async (t) => {
    const path = await leave(t);
    const { length } = Buffer.concat([readFileSync(segmentPath(path, 0)).subarray(0, 4096)]);
    const segment = readFileSync(segmentPath(path, 0));
    segment.fill(0xa5, segment.indexOf('"id":"c"'), length);
    writeFileSync(segmentPath(path, 0), segment);
    assert.deepEqual(ids(path), ['a', 'b']);
  });

  it('may be brought into the tables twice without being doubled', async (t) => {
    const path = await leave(t);
    const segment = readFileSync(segmentPath(path, 0));
    assert.deepEqual(ids(path), ['a', 'b', 'c']);
    // Killed after the commit, before the file was removed.
    writeFileSync(segmentPath(path, 0), segment);
    assert.deepEqual(ids(path), ['a', 'b', 'c']);
  });

  it('of another database is refused, and both are left alone', async (t) => {
    const path = await leave(t);
    const other = await leave(t);
    const segment = readFileSync(segmentPath(path, 0));
    writeFileSync(segmentPath(other, 0), segment);
    for (const open of [openCommandStore, openStoreReader])
      assert.throws(() => open(other), /belongs to another database/);
    assert.deepEqual(readFileSync(segmentPath(other, 0)), segment);
  });
});

it('whoever follows the journal says why it cannot, and goes on when it can', async (t) => {
  const path = join(tempDir(t), 'state.db');
  const db = openDatabase(path, 'normal');
  migrate(db);
  t.after(() => db.close());
  const follower = new Follower(path, db, createTransactions(db));
  t.after(() => follower.close());
  const journal = new Journal({ path, store: STORE, last: 0, salt: () => 7 });
  t.after(() => journal.close(true));
  follower.aim({ number: 1, segment: 0, end: 500 });
  assert.match(follower.follow() ?? '', /the journal cannot be read: record 1 is not in the journal/);
  follower.aim(journal.append(acceptText(2, makeAccept('a'))));
  assert.deepEqual([follower.follow(), follower.done, createReader(db).find('a')?.ref], [null, 1, 2]);
});

it('what an earlier version was killed with is refused rather than lost', async (t) => {
  const path = join(tempDir(t), 'state.db');
  await openCommandStore(path).close();
  const old = new Database(path);
  old.exec('CREATE TABLE staged_batch (seq INTEGER PRIMARY KEY, changes TEXT NOT NULL); PRAGMA user_version = 4');
  old.exec("INSERT INTO staged_batch (changes) VALUES ('[[],[]]')");
  old.close();
  assert.throws(() => openCommandStore(path), /start that version once more/);
});
