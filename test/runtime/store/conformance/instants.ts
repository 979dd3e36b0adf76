/** Instants at which jobs are due: each is handled exactly once. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { MutationResults, Store } from '../../../../runtime/store/contract.ts';
import type { DispatchSummary } from '../../../../runtime/store/queries.ts';
import type { JobTick } from '../../../../runtime/store/records.ts';
import { makeTick } from '../../../helpers/jobs.ts';
import type { StoreOpener } from './subject.ts';
import { advance, find, take } from './subject.ts';

async function tick(store: Store, ...args: Parameters<typeof makeTick>): Promise<MutationResults['tick_job']['kind']> {
  return (await store.write(makeTick(...args))).kind;
}

/** Takes the waiting run and ends it. */
async function end(store: Store): Promise<void> {
  const { runs } = await take(store, 1e6);
  for (const { ref } of runs) assert.equal(await advance(store, ref, 'skipped', 1e6), true);
}

const ticks = (store: Store, job: string): Promise<readonly JobTick[]> =>
  store.read({ kind: 'job_ticks', job, limit: 9 });
const list = (store: Store): Promise<readonly DispatchSummary[]> => store.read({ kind: 'list', filter: { limit: 9 } });

export function instants(open: StoreOpener): void {
  it('handles an instant once, even when two processes claim it at once', async (t) => {
    const { store } = await open(t);
    const both = await Promise.all([tick(store, 'j', 5000), tick(store, 'j', 5000, { now: 5001 })]);
    assert.deepEqual(both, ['stored', 'claimed']);
    assert.equal((await list(store)).length, 1);
    assert.equal((await find(store, 'j-5000'))?.dispatch.due_at, 5000);
    assert.deepEqual(await ticks(store, 'j'), [
      { due_at: 5000, outcome: 'fired', ref: (await list(store))[0]?.ref, missed: 0 },
    ]);
  });

  it('never goes back behind a handled instant', async (t) => {
    const { store } = await open(t);
    await tick(store, 'j', 5000);
    await end(store);
    assert.equal(await tick(store, 'j', 4000), 'claimed');
    assert.equal(await tick(store, 'other', 4000), 'stored');
    assert.equal(await tick(store, 'j', 6000), 'stored');
  });

  it('does not handle an instant again when the job restarts its count from an earlier time', async (t) => {
    const { store } = await open(t);
    await tick(store, 'j', 5000);
    await end(store);
    await store.write({ kind: 'watch_job', job: 'j', signature: 's', now: 1000 });
    assert.equal(await tick(store, 'j', 5000), 'claimed');
    assert.equal(await tick(store, 'j', 4000), 'stored');
  });

  it('starts no second run while one waits or runs, and starts one after it has ended', async (t) => {
    const { store } = await open(t);
    await tick(store, 'j', 5000);
    assert.equal(await tick(store, 'j', 6000), 'running');
    assert.equal((await take(store, 6500)).runs.length, 1);
    assert.equal(await tick(store, 'j', 7000), 'running');
    // The agent has answered. Its delivery may take hours and delays nothing.
    const open_ = [{ index: 0, target: 'log', due_at: 9000 }];
    const { ref = 0 } = (await list(store)).at(-1) ?? {};
    assert.equal(await advance(store, ref, 'delivering', 7500, { answer: 'x', open: open_ }), true);
    assert.equal(await tick(store, 'j', 8000, { missed: 3 }), 'stored');
    assert.deepEqual(
      (await ticks(store, 'j')).map(({ due_at, outcome, missed }) => [due_at, outcome, missed]),
      [
        [8000, 'fired', 3],
        [7000, 'overlapped', 0],
        [6000, 'overlapped', 0],
        [5000, 'fired', 0],
      ],
    );
  });

  it('records missed instants without a run', async (t) => {
    const { store } = await open(t);
    assert.equal(await tick(store, 'j', 5000, { dispatch: null, missed: 4 }), 'missed');
    assert.deepEqual(await ticks(store, 'j'), [{ due_at: 5000, outcome: 'missed', ref: null, missed: 4 }]);
    assert.equal(await tick(store, 'j', 5000), 'claimed');
    assert.equal((await list(store)).length, 0);
  });

  it('does not fire a paused job, and resumes from the time at which it is resumed', async (t) => {
    const { store } = await open(t);
    assert.equal(await tick(store, 'j', 1000, { paused: true }), 'paused');
    await store.write({ kind: 'pause_job', job: 'k', paused: true, now: 1000 });
    assert.equal(await tick(store, 'k', 2000), 'paused');
    assert.deepEqual(await ticks(store, 'k'), []);
    await store.write({ kind: 'pause_job', job: 'k', paused: false, now: 9000 });
    assert.equal(await tick(store, 'k', 8000), 'claimed');
    assert.equal(await tick(store, 'k', 10_000, { paused: true }), 'stored');
  });

  it('forgets old instants in slices', async (t) => {
    const { store } = await open(t);
    for (const at of [1000, 2000, 3000]) await tick(store, 'j', at, { dispatch: null });
    assert.equal(await store.write({ kind: 'forget_ticks', before: 3000, limit: 1 }), 1);
    assert.equal(await store.write({ kind: 'forget_ticks', before: 3000, limit: 9 }), 1);
    assert.equal((await ticks(store, 'j')).length, 1);
  });
}
