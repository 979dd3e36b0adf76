/** Gateways of two versions on one database, while they are upgraded one after the other. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SCHEMA_VERSION } from '../../../../modules/cluster/runtime/postgres/schema.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import type { Store } from '../../../../runtime/store/contract.ts';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { makeAccept, makeAdvance, makeDispatch, makeJoin, makeStep, makeTake } from '../../../helpers/dispatches.ts';
import { FastClock } from '../../../helpers/fast-clock.ts';
import { until } from '../../../helpers/gateway.ts';
import { makeTick } from '../../../helpers/jobs.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, suiteDatabase } from '../../../helpers/postgres/database.ts';
import { laterVersion } from '../../../helpers/postgres/neighbour-version.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { audit, find } from '../../../runtime/store/conformance/subject.ts';

/** A lease is renewed every 150 ms. */
const SPEED = 20;

describe('a rolling upgrade', { skip: skipWithoutPostgres() }, () => {
  const url = suiteDatabase();
  let schemas = 0;

  const options = { log: { debug() {}, info() {}, warn() {}, error() {} }, listen: true };
  type Version = Awaited<ReturnType<typeof laterVersion>>;
  async function open(t: Ending, schema: string, version?: Version, clock: Clock = systemClock): Promise<Store> {
    const node = { url: () => 'http://127.0.0.1:1', version: '0.0.0', table: () => null, problem: () => null };
    const store = await (version === undefined
      ? openTestStore(url(), schema, { clock })
      : version({ url: url(), schema, clock, node, ...options }));
    atEnd(t, () => store.close());
    return store;
  }

  /** Everything that happens to a dispatch; another node may take its run. */
  async function work(store: Store, name: string): Promise<void> {
    assert.equal((await store.write(makeAccept(name))).kind, 'stored');
    assert.equal((await store.write(makeJoin(`${name}-group`, 'key', 1000))).kind, 'stored');
    const { runs } = await store.write(makeTake(1000, { holder: name }));
    for (const { ref } of runs) {
      const steps = [makeStep({ kind: 'delivery', index: 0, outcome: 'ok' })];
      await store.write(makeAdvance(ref, 'done', 1001, { holder: name, answer: 'said', steps }));
    }
    assert.equal((await store.write(makeTick(`job of ${name}`, 5000))).kind, 'stored');
    await store.write({ kind: 'cleanup', before: 1, after: 0, limit: 100 });
  }

  const goesOn = async (store: Store, id: string): Promise<boolean> => {
    const result = await store.write(makeAccept(id, { claim: null })).catch((error: unknown) => error);
    // By name: the later version has its own class.
    return !(result instanceof Error && result.name === 'StoreUnavailable');
  };

  it('keeps the old version running beside the new one, even over new connections', async (t) => {
    const schema = `rolling_${++schemas}`;
    const old = await open(t, schema);
    await work(old, 'old before');
    const later = await open(t, schema, await laterVersion(t, 1));
    const [row] = await runSql<{ version: number }>(url(), `SELECT version FROM ${schema}.schema_version`);
    assert.equal(row?.version, SCHEMA_VERSION + 1);
    for (const round of [1, 2]) {
      await Promise.all([work(old, `old ${round}`), work(later, `new ${round}`)]);
      for (const [store, name] of [
        [old, `new ${round}`],
        [later, `old ${round}`],
      ] as const) {
        assert.equal((await find(store, name))?.state, 'done');
      }
      assert.equal(
        (await old.write(makeAccept('again', { claim: makeAccept(`new ${round}`).claim }))).kind,
        'duplicate',
      );
      await runSql(
        url(),
        // Waits until they have ended; otherwise a write over one of them would succeed, and the next one fail.
        'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      for (const [n, store] of [old, later].entries()) await until(() => goesOn(store, `${round} ${n}`));
    }
    assert.deepEqual(await audit(old), []);
    assert.deepEqual(await audit(later), []);
  });

  it('keeps the order of a session while the gateways are replaced one after the other', async (t) => {
    const schema = `rolling_${++schemas}`;
    const old = await open(t, schema);
    const later = await open(t, schema, await laterVersion(t, 1));
    const of = { session_key: 'k', session: 's:k' };
    for (const [store, id] of [
      [old, 'a1'],
      [later, 'a2'],
      [old, 'a3'],
      [later, 'a4'],
    ] as const)
      await store.write(makeAccept(id, { claim: null, dispatch: makeDispatch(id, of) }));
    const begin = async (store: Store, holder: string): Promise<readonly number[]> =>
      (await store.write(makeTake(1000, { holder }))).runs.map(({ ref }) => ref);
    const end = (store: Store, holder: string, ref = 0) =>
      store.write(makeAdvance(ref, 'done', 1001, { holder, answer: 'said' }));
    const [first] = await begin(old, 'old');
    assert.deepEqual(await begin(later, 'later'), []);
    await end(old, 'old', first);
    const begun = [first];
    for (const isLast of [false, false, true]) {
      const [next, ...others] = await begin(later, 'later');
      assert.deepEqual([others, await begin(isLast ? later : old, 'old')], [[], []]);
      begun.push(next);
      if (begun.length === 3) await old.close();
      await end(later, 'later', next);
    }
    assert.deepEqual(
      begun,
      [...begun].sort((a = 0, b = 0) => a - b),
    );
    assert.deepEqual(await begin(later, 'later'), []);
    assert.deepEqual(await audit(later), []);
  });

  it('does not start the old version on the tables of the new one', async (t) => {
    const schema = `rolling_${++schemas}`;
    await open(t, schema, await laterVersion(t, 1));
    await assert.rejects(open(t, schema), {
      name: 'StoreRefused',
      message: new RegExp(`schema "${schema}" has version ${SCHEMA_VERSION + 1}, this one supports ${SCHEMA_VERSION}`),
    });
  });

  it('ends the old version when the tables are two versions ahead: it takes nothing, and reports why', async (t) => {
    const schema = `rolling_${++schemas}`;
    const clock = new FastClock(Date.now());
    clock.rush(SPEED);
    const old = await open(t, schema, undefined, clock);
    const later = await open(t, schema, await laterVersion(t, 2));
    const message = await until(async () => old.problem()?.message);
    assert.match(message, new RegExp(`"${schema}".*\\b${SCHEMA_VERSION + 2}\\b`));
    let tries = 0;
    await until(async () => !(await goesOn(old, `late ${++tries}`)));
    await work(later, 'after');
  });
});
