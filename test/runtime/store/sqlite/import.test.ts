import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { StoredDispatch } from '../../../../runtime/store/queries.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { openOfflineStore } from '../../../../runtime/store/sqlite/open-store.ts';
import type { Store } from '../../../../runtime/store/store.ts';
import { StoreRefused } from '../../../../runtime/store/store.ts';
import { HOLDER, makeAccept, makeClaim, makeJoin, makeTake } from '../../../helpers/dispatches.ts';
import { ROOT } from '../../../helpers/root.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

/** When the fixture's events were accepted; nothing in it is due later than two minutes after. */
const T = 1_760_000_000_000;
const FIXTURE = join(ROOT, 'test/runtime/store/sqlite/fixtures/format-5');

/**
 * A home of the version before this one, killed under load: nine dispatches in the tables and their write-ahead log, and
 * thirty-two, of which three have ended, in the log that it kept beside them.
 */
function killedHome(t: TestContext): string {
  const dir = tempDir(t);
  for (const name of readdirSync(FIXTURE)) {
    writeFileSync(join(dir, name.replace(/\.gz$/, '')), gunzipSync(readFileSync(join(FIXTURE, name))));
  }
  return join(dir, 'state.db');
}

async function openIn(t: TestContext, path: string): Promise<Store> {
  const store = await openOfflineStore(path);
  t.after(() => store.close());
  return store;
}

async function byName(store: Store): Promise<Readonly<Record<string, StoredDispatch>>> {
  const all = await store.read({ kind: 'list', filter: { limit: 999 } });
  const loaded = await Promise.all(all.map(({ ref }) => store.read({ kind: 'load', ref })));
  return Object.fromEntries(loaded.flatMap((found) => (found === null ? [] : [[found.id.replace(/^.*-/, ''), found]])));
}

const statesOf = (found: Readonly<Record<string, StoredDispatch>>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, found[name]?.state]));

describe('a home of format 5 with an unread log', () => {
  it('is imported whole: the tables, and what was acknowledged and only in the log', async (t) => {
    const store = await openIn(t, killedHome(t));
    const found = await byName(store);
    assert.equal(Object.keys(found).length, 41);
    assert.deepEqual(
      statesOf(found, ['done', 'dead', 'retry', 'running', 'delivering', 'direct', 'group1', 'group2', 'fired']),
      {
        ...{ done: 'done', dead: 'dead', retry: 'pending', running: 'running', delivering: 'delivering' },
        ...{ direct: 'delivering', group1: 'skipped', group2: 'pending', fired: 'pending' },
      },
    );
    assert.equal(found.done?.answer, 'an answer \0 with a NUL');
    assert.deepEqual(statesOf(found, ['load0', 'load1', 'load3', 'load5', 'load31']), {
      ...{ load0: 'done', load1: 'pending', load3: 'done', load5: 'done', load31: 'pending' },
    });
    assert.deepEqual([found.load3?.answer, found.load3?.steps.length, found.load3?.ref], ['answer 3', 1, 26]);
    assert.deepEqual(await store.read({ kind: 'audit' }), []);
  });

  it('goes on where it was left', async (t) => {
    const store = await openIn(t, killedHome(t));
    const recovered = await store.write({
      ...{ kind: 'recover', holder: HOLDER, now: T + 1000, under_way: { runs: [], attempts: [] } },
    });
    assert.deepEqual([recovered.runs, recovered.given_up.map(({ id }) => id.replace(/^.*-/, ''))], [1, ['direct']]);
    const taken = await store.write(makeTake(T + 1000));
    // What was accepted at once, the run that was cut off and the job; the retry and the group are not due yet.
    assert.deepEqual([taken.runs.length, taken.attempts.length, taken.waiting], [31, 0, 1]);
    const { delivering, retry, group2 } = await byName(store);
    const later = await store.write(makeTake(T + 95_000));
    assert.deepEqual(
      later.runs.map(({ ref, failed }) => [ref, failed]),
      [
        [group2?.ref, 0],
        [retry?.ref, 1],
      ],
    );
    assert.deepEqual(later.attempts, [{ ref: delivering?.ref, index: 1 }]);
    const [job] = (await store.read({ kind: 'jobs' })).records;
    assert.equal(job?.name, 'tidy');
  });

  it('keeps ids, groups and numbers', async (t) => {
    const store = await openIn(t, killedHome(t));
    for (const id of ['delivery-done', 'delivery-load7', 'delivery-group2']) {
      const again = makeAccept(`again-${id}`, { claim: makeClaim(id, T + 9e6), now: T + 2000 });
      assert.equal((await store.write(again)).kind, 'duplicate', id);
    }
    const joined = await store.write(makeJoin('group3', 'pr 1', T + 2000));
    assert.deepEqual([joined.kind, joined.kind === 'stored' && joined.superseded], ['stored', 2]);
    assert.ok(joined.kind === 'stored' && joined.ref > 82);
  });

  it('has no old files left, and nothing is imported twice where they are', async (t) => {
    const path = killedHome(t);
    const log = path.replace(/\.db$/, '.journal.0');
    copyFileSync(log, `${log}.kept`);
    await (await openOfflineStore(path)).close();
    assert.equal(existsSync(log), false);
    // As if the process had been killed before it removed the file.
    copyFileSync(`${log}.kept`, log);
    const store = await openIn(t, path);
    assert.equal((await store.read({ kind: 'list', filter: { limit: 999 } })).length, 41);
    assert.deepEqual(await store.read({ kind: 'audit' }), []);
    assert.equal(existsSync(log), false);
  });

  // The first record has twenty dispatches, the second the ends of three.
  for (const [what, at, left] of [
    ['head', 10, 41],
    ['first record', 94, 21],
    ['second record', null, 41],
  ] as const) {
    it(`has damage of the log's ${what} said and put aside, and the good records imported`, async (t) => {
      const path = killedHome(t);
      const log = path.replace(/\.db$/, '.journal.0');
      const bytes = readFileSync(log);
      const second = 28 + 16 + bytes.readUInt32LE(28 + 4);
      const place = at ?? second + 40;
      bytes[place] = (bytes[place] ?? 0) ^ 0x10;
      writeFileSync(log, bytes);
      const store = await openIn(t, path);
      const { damage } = await store.read({ kind: 'overview', now: 0 });
      assert.match(damage?.message ?? '', /log that an older version left beside .*state\.db was damaged/);
      assert.deepEqual(readFileSync(damage?.copy ?? ''), bytes);
      assert.equal(existsSync(log), false);
      assert.equal((await store.read({ kind: 'list', filter: { limit: 999 } })).length, left);
      assert.deepEqual(await store.read({ kind: 'audit' }), []);
    });
  }

  it('is not damaged where only its end is torn', async (t) => {
    const path = killedHome(t);
    const log = path.replace(/\.db$/, '.journal.0');
    const bytes = readFileSync(log);
    bytes[bytes.findLastIndex((byte) => byte !== 0)] = 0;
    writeFileSync(log, bytes);
    const store = await openIn(t, path);
    assert.equal((await store.read({ kind: 'overview', now: 0 })).damage, null);
    assert.equal(existsSync(log), false);
  });

  it('is refused, and left as it is, where the log belongs to another database', async (t) => {
    const path = killedHome(t);
    const other = connect(path, { busyMs: 0 });
    other.exec("UPDATE meta SET value = '00' WHERE key = 'store_name'");
    other.close();
    await assert.rejects(openOfflineStore(path), (error) => {
      assert.ok(error instanceof StoreRefused && /belongs to another database/.test(error.message), String(error));
      return true;
    });
    assert.equal(existsSync(path.replace(/\.db$/, '.journal.0')), true);
  });
});

describe('a database', () => {
  const refused: readonly (readonly [format: number, message: RegExp])[] = [
    [4, /has format 4, of a version before the first release: move the file away/],
    [99, /newer hookwright \(format 99, this one knows 6\)/],
  ];
  for (const [format, message] of refused) {
    it(`of format ${format} is refused`, async (t) => {
      const path = join(tempDir(t), 'state.db');
      const db = connect(path, { busyMs: 0 });
      db.exec(`PRAGMA user_version = ${format}`);
      db.close();
      await assert.rejects(
        openOfflineStore(path),
        (error) => error instanceof StoreRefused && message.test(error.message),
      );
    });
  }

  it('that is no database is refused with its name', async (t) => {
    const path = join(tempDir(t), 'state.db');
    writeFileSync(path, 'this is no database, it only looks like a file of some length'.repeat(50));
    await assert.rejects(openOfflineStore(path), /cannot open .*state\.db: .*not a database/);
  });
});
