/** Several gateways on one database: their common limits, and the rights of a gateway that lost its lease. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../../../runtime/store/contract.ts';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { makeAccept, makeAdvance, makeClaim, makeJoin, makeTake } from '../../../helpers/dispatches.ts';
import { makeTick } from '../../../helpers/jobs.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, suiteDatabase } from '../../../helpers/postgres/database.ts';
import { openMortalStore, openTestStore } from '../../../helpers/postgres/store.ts';
import { accept, audit, find, load, take, tally } from '../../../runtime/store/conformance/subject.ts';

const NONE = { runs: [], attempts: [] };

describe('several gateways', { skip: skipWithoutPostgres() }, () => {
  const url = suiteDatabase();
  let schemas = 0;

  /** Two stores on their own schema; `endLease` is for the first. */
  async function two(t: Ending) {
    const schema = `nodes_${++schemas}`;
    const mortal = await openMortalStore(url(), schema);
    const other = await openTestStore(url(), schema);
    atEnd(t, () => other.close());
    atEnd(t, () => mortal.store.close());
    const endLease = () => runSql(url(), `UPDATE ${schema}.node SET until = '-infinity' WHERE id = 1`);
    return { one: mortal.store, two: other, kill: mortal.kill, endLease };
  }

  it('accept an id, an instant and a group once, whichever gateway gets it', async (t) => {
    const { one, two: other } = await two(t);
    const ids = Array.from({ length: 20 }, (_, n) => makeClaim(`id-${n}`));
    const accepted = await Promise.all(
      [one, other].map((store, node) =>
        Promise.all(ids.map((claim, n) => store.write(makeAccept(`${node}-${n}`, { claim })))),
      ),
    );
    for (const [n] of ids.entries()) {
      assert.deepEqual(accepted.map((results) => results[n]?.kind).sort(), ['duplicate', 'stored']);
    }
    const ticks = await Promise.all([one.write(makeTick('j', 5000)), other.write(makeTick('j', 5000, { now: 5001 }))]);
    assert.deepEqual(ticks.map(({ kind }) => kind).sort(), ['claimed', 'stored']);
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => [
        one.write(makeJoin(`a${n}`, 'k', 1000 + n)),
        other.write(makeJoin(`b${n}`, 'k', 1000 + n)),
      ]).flat(),
    );
    const [group] = await runSql<{ open: number; skipped: number }>(
      url(),
      `SELECT (SELECT count(*)::integer FROM nodes_${schemas}.work WHERE group_key IS NOT NULL) AS open, ` +
        `(SELECT count(*)::integer FROM nodes_${schemas}.ended WHERE state = 'skipped') AS skipped`,
    );
    assert.deepEqual(group, { open: 1, skipped: 19 });
    assert.deepEqual(await audit(one), []);
  });

  it('let one gateway hold an id of a direct delivery, until it ends or its gateway does', async (t) => {
    const { one, two: other, kill } = await two(t);
    const held = (id: string, holder: string, delivery = 'same') =>
      makeAccept(id, { claim: makeClaim(delivery), claiming: 'later', work: { kind: 'held', holder } });
    const both = await Promise.all([
      ...Array.from({ length: 5 }, (_, n) => one.write(held(`a${n}`, `one ${n}`))),
      ...Array.from({ length: 5 }, (_, n) => other.write(held(`b${n}`, `two ${n}`))),
    ]);
    assert.deepEqual(both.map(({ kind }) => kind).sort(), [...Array<string>(9).fill('held'), 'stored']);
    const at = both.findIndex(({ kind }) => kind === 'stored');
    const winner = { store: at < 5 ? one : other, holder: at < 5 ? `one ${at}` : `two ${at - 5}` };
    const [stored] = both.filter((result) => result.kind === 'stored');
    const counts = await other.read({ kind: 'overview', now: 2000 });
    assert.deepEqual([counts.backlog.groups, (await tally(other)).delivering], [0, 1]);
    await winner.store.write({ ...makeAdvance(stored?.ref ?? 0, 'dead', 2000), holder: winner.holder });
    assert.equal((await one.write(held('again', 'one'))).kind, 'stored', 'a failure frees the id');
    assert.equal((await other.write(held('later', 'two'))).kind, 'held');
    await kill();
    await other.write({ kind: 'recover', holder: 'two', now: 3000, under_way: NONE });
    const last = await other.write(held('last', 'two'));
    assert.equal(last.kind, 'stored', 'the end of its gateway frees the id');
    const success = { ...makeAdvance(last.ref, 'done', 4000, { claim: makeClaim('same') }), holder: 'two' };
    assert.equal(await other.write(success), true);
    assert.equal((await other.write(held('repeat', 'two'))).kind, 'duplicate');
    assert.deepEqual(await audit(other), []);
  });

  it('never exceed the concurrent runs of a route, and run nothing twice', { timeout: 300_000 }, async (t) => {
    const { one, two: other } = await two(t);
    await Promise.all(Array.from({ length: 30 }, (_, n) => accept(one, `d${n}`, { max_concurrent: 2, claim: null })));
    const seen = new Set<number>();
    let running = 0;
    let most = 0;
    const work = async (store: Store, holder: string): Promise<void> => {
      while (seen.size < 30) {
        const { runs } = await take(store, 2000, { holder, runs: 3 });
        running += runs.length;
        most = Math.max(most, running);
        for (const { ref } of runs) {
          assert.ok(!seen.has(ref));
          seen.add(ref);
          running--;
          assert.equal(await store.write({ ...makeAdvance(ref, 'skipped', 2000), holder }), true);
        }
      }
    };
    await Promise.all([work(one, 'one'), work(other, 'two')]);
    assert.deepEqual([seen.size, most <= 2], [30, true]);
    assert.deepEqual([(await tally(other)).skipped, await audit(other)], [30, []]);
  });

  it('take over the work of a gateway whose lease has ended, and leave the work of others alone', async (t) => {
    const { one, two: other, kill } = await two(t);
    const gone = await accept(one, 'gone');
    await take(one, 1000, { holder: 'one' });
    await accept(other, 'mine');
    await take(other, 1000, { holder: 'two' });
    const recover = { kind: 'recover', holder: 'two', now: 3000, under_way: { runs: [2], attempts: [] } } as const;
    assert.deepEqual((await other.write(recover)).runs, 0, 'it has its lease');
    await kill();
    assert.deepEqual((await other.write(recover)).runs, 1);
    assert.deepEqual(
      (await take(other, 3000, { holder: 'two' })).runs.map(({ ref }) => ref),
      [gone],
    );
    assert.equal((await find(other, 'mine'))?.state, 'running');
    assert.deepEqual(await audit(other), []);
  });

  it('reject a late writer whose work was taken over, and let it start over', async (t) => {
    const { one, two: other, endLease } = await two(t);
    const ref = await accept(one, 'a');
    await take(one, 1000, { holder: 'one' });
    await endLease();
    const recover = { kind: 'recover', holder: 'two', now: 3000, under_way: NONE } as const;
    assert.equal((await other.write(recover)).runs, 1);
    assert.equal(await one.write({ ...makeAdvance(ref, 'done', 4000, { answer: 'late' }), holder: 'one' }), false);
    assert.equal((await load(other, ref)).state, 'pending');
    await accept(one, 'b');
    assert.equal((await one.write(makeTake(4000, { holder: 'one' }))).runs.length, 2);
    assert.equal((await other.write(recover)).runs, 0, 'what it has taken is under a lease again');
  });

  it('notify each other of new work, and of gateways that have left some', async (t) => {
    const { one, two: other, endLease } = await two(t);
    const heard: string[] = [];
    const told = new Promise<void>((resolve) => {
      other.shared?.watch((change) => {
        heard.push(change);
        resolve();
      });
    });
    await other.read({ kind: 'jobs_version' });
    await accept(one, 'a');
    await told;
    assert.equal(heard[0], 'work');
    const left = new Promise<void>((resolve) => other.shared?.watch((change) => change === 'left' && resolve()));
    // The first one to renew its lease would get it again, so only a dead process stays without.
    await one.close();
    await runSql(url(), `UPDATE nodes_${schemas}.node SET ended_at = NULL WHERE id = 1`);
    await endLease();
    await left;
  });
});
