/** Databases of earlier schema versions are migrated with all pending work. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { SCHEMA_VERSION, STEPS } from '../../../../modules/cluster/runtime/postgres/schema.ts';
import {
  createSeal,
  openSubscriptions,
  SUBSCRIPTIONS,
} from '../../../../modules/cluster/runtime/shared-subscriptions.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { makeAdvance, makeTake } from '../../../helpers/dispatches.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { audit, find } from '../../../runtime/store/conformance/subject.ts';

/** The key with which the fixture is signed and sealed. */
const KEY = 'be74f32f2fdaffd126997949ba91892414241432a5255403586b5ffc69447184';
const ROWS = readFileSync('test/fixtures/store/version-2.sql', 'utf8');

describe('a database of schema version 3', { skip: skipWithoutPostgres() }, () => {
  it('keeps which deliveries wait, were reported, and were rejected, also for gateways of that version', async (t) => {
    const url = await testDatabase(t);
    const steps = STEPS.slice(0, 2).join('\n');
    await runSql(url, `CREATE SCHEMA hookwright; SET search_path = hookwright; ${steps}`);
    await runSql(url, ROWS);
    await runSql(url, `SET search_path = hookwright; ${STEPS[2]}`);
    await runSql(url, 'CREATE TABLE hookwright.schema_version AS SELECT 3 AS version');
    const copies = ['told', 'rejected'].map(
      (waiting, at) => `(4, ${at + 1}, '["default","log"]', 9000, 1500, '${waiting}')`,
    );
    const columns = 'ref, n, lane, due_at, set_at, waiting';
    await runSql(url, `INSERT INTO hookwright.delivery (${columns}) VALUES ${copies.join()}`);
    await runSql(url, "UPDATE hookwright.delivery SET due_at = set_at WHERE waiting = 'rejected'");
    const store = await openTestStore(url, 'hookwright');
    atEnd(t, () => store.close());

    const list = await store.read({ kind: 'list', filter: { limit: 99 } });
    assert.deepEqual(
      list.flatMap(({ id, waits_for }) => (waits_for === null ? [] : [[id, waits_for]])),
      [
        ['next', 'session'],
        ['asked', 'approval'],
      ],
    );
    const told = async () =>
      (await store.read({ kind: 'blocked' })).map(({ index, told_at }) => [index, told_at !== null]);
    assert.deepEqual(await told(), [
      [0, false],
      [1, true],
    ]);
    const { attempts } = await store.write(makeTake(3000, { holder: 'other' }));
    const unsent = attempts.filter((one) => one.unsent !== undefined).map(({ index, ...one }) => [index, one.unsent]);
    assert.deepEqual(unsent, [[2, 'refused']]);

    // A gateway of version 3 requests the first approval and rejects the second; this one approves the first.
    const set = (values: string, n: number) =>
      runSql(url, `UPDATE hookwright.delivery SET ${values} WHERE ref = 4 AND n = ${n}`);
    await set("waiting = 'told'", 0);
    assert.deepEqual(await told(), [
      [0, true],
      [1, true],
    ]);
    await set("waiting = 'rejected', due_at = 3000, set_at = 3000", 1);
    assert.deepEqual(await told(), [[0, true]]);
    const of = { change: 'answer_approval', ref: 4, index: 0, since: 1500, dispatch: null, now: 3000 };
    const values = { approve: true, by: 'ann', reason: null };
    assert.equal(await store.write({ kind: 'change_delivery', ...of, values }), true);
    const rows = await runSql(url, 'SELECT n, waiting, blocked_by FROM hookwright.delivery WHERE ref = 4 ORDER BY n');
    assert.deepEqual(rows, [
      { n: 0, waiting: null, blocked_by: null },
      { n: 1, waiting: 'rejected', blocked_by: 'approval' },
      { n: 2, waiting: 'rejected', blocked_by: 'approval' },
    ]);
  });
});

describe('a database of schema version 2', { skip: skipWithoutPostgres() }, () => {
  it('is migrated with pending work of every kind, and loses tables and signatures', async (t) => {
    const url = await testDatabase(t);
    const steps = STEPS.slice(0, 2).join('\n');
    await runSql(url, `CREATE SCHEMA hookwright; SET search_path = hookwright; ${steps}`);
    await runSql(url, 'CREATE TABLE hookwright.schema_version AS SELECT 2 AS version');
    await runSql(url, ROWS);
    const store = await openTestStore(url, 'hookwright');
    atEnd(t, () => store.close());

    const [row] = await runSql<{ version: number }>(url, 'SELECT version FROM hookwright.schema_version');
    assert.equal(row?.version, SCHEMA_VERSION);
    const tables = await runSql<{ name: string }>(
      url,
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'hookwright' AND tablename = 'route_table'",
    );
    assert.deepEqual(tables, []);
    assert.deepEqual(await runSql(url, 'SELECT name, version FROM hookwright.document'), [
      { name: SUBSCRIPTIONS, version: '2' },
    ]);

    const list = await store.read({ kind: 'list', filter: { limit: 99 } });
    assert.deepEqual(
      list.map(({ id, state, waits_for }) => [id, state, waits_for]),
      [
        ['abcdef-1200', 'pending', null],
        ['grouped', 'pending', null],
        ['waiting', 'pending', null],
        ['held', 'pending', null],
        ['message', 'delivering', null],
        ['next', 'pending', 'session'],
        ['running', 'running', null],
        ['asked', 'waiting', 'approval'],
        ['retried', 'delivering', null],
        ['dead', 'dead', null],
        ['done', 'done', null],
      ],
    );
    assert.deepEqual(await audit(store), []);
    for (const { ref } of list) assert.notEqual(await store.read({ kind: 'load', ref }), null);
    const { records, states } = await store.read({ kind: 'jobs' });
    assert.deepEqual(
      records.map(({ name }) => name),
      ['nightly', 'weekly'],
    );
    assert.equal(states.ghijkl?.paused, true);

    // The gateway of the fixture holds a run, a delivery and a message until its lease has ended.
    await store.write({ kind: 'recover', holder: 'other', now: 3000, under_way: { runs: [], attempts: [] } });
    const taken = await store.write(makeTake(40_000, { holder: 'other' }));
    const idOf = new Map(list.map(({ ref, id }) => [ref, id]));
    assert.deepEqual(taken.runs.map(({ ref }) => idOf.get(ref)).sort(), [
      'abcdef-1200',
      'grouped',
      'running',
      'waiting',
    ]);
    assert.deepEqual(taken.attempts.map(({ ref }) => idOf.get(ref)).sort(), ['retried', 'retried']);
    // Its sender did not get a response: the next attempt has the same delivery id, and starts over.
    assert.equal((await find(store, 'message'))?.state, 'dead');
    const running = list.find(({ id }) => id === 'running')?.ref ?? 0;
    await store.write(makeAdvance(running, 'done', 40_001, { holder: 'other', answer: 'said' }));
    const next = await store.write(makeTake(40_002, { holder: 'other' }));
    assert.deepEqual(
      next.runs.map(({ ref }) => idOf.get(ref)),
      ['next'],
    );
  });

  it('keeps subscriptions with their secrets, sessions and captured requests', async (t) => {
    const url = await testDatabase(t);
    await runSql(url, `CREATE SCHEMA hookwright; SET search_path = hookwright; ${STEPS.slice(0, 2).join('\n')}`);
    await runSql(url, 'CREATE TABLE hookwright.schema_version AS SELECT 2 AS version');
    await runSql(url, ROWS);
    const store = await openTestStore(url, 'hookwright');
    atEnd(t, () => store.close());
    assert.ok(store.state !== null);
    const { documents, sessions, requests } = store.state;
    const { text } = await documents.read(SUBSCRIPTIONS);
    const opened = openSubscriptions(text, createSeal(KEY));
    assert.deepEqual(JSON.parse(opened.text), {
      one: { prompt: 'Hi {x}', secret: 'a-literal-secret-of-a-subscription' },
    });
    for (const target of ['telegram', 'messenger_a']) {
      const chat = { profile: 'default', target, chatId: '7' };
      assert.equal((await sessions.open(chat)).created, false);
      assert.equal((await sessions.read(chat))?.length, 1);
    }
    const [chat] = await sessions.list('default');
    assert.deepEqual([chat?.target, chat?.chat_id], ['telegram', '7']);
    const made = { profile: 'default', target: 'messenger_a', chatId: '8' };
    assert.equal((await sessions.open(made)).created, true);
    assert.equal(await sessions.append(made, { role: 'user', content: 'hi', at: '2026-01-01T00:00:00.000Z' }), true);
    assert.equal((await sessions.read({ ...made, target: 'telegram' }))?.length, 1);
    const [request] = await requests.between(0, 2_000_000);
    assert.equal(JSON.parse(request?.head ?? '').delivery_id, 'd');
    const listed = await requests.list({ isAscending: true, limit: 9, skip: 0 });
    assert.equal(JSON.parse(listed[0]?.head ?? '').delivery_id, 'd');
  });
});
