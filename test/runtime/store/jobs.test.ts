import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createMemoryStore } from '../../../runtime/store/memory-store.ts';
import type { MutationResults } from '../../../runtime/store/mutations.ts';
import { openCommandStore } from '../../../runtime/store/sqlite-store.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { makeClaim } from '../../helpers/dispatches.ts';
import { makeFire, makeJob, makeTick } from '../../helpers/jobs.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import type { OpenStore } from './store-contract.ts';

const open: Readonly<Record<string, OpenStore>> = {
  'memory store': () => createMemoryStore(),
  'sqlite store': (t) => {
    const store = openCommandStore(join(tempDir(t), 'state.db'));
    t.after(() => store.close());
    return store;
  },
};

async function tick(store: Store, ...args: Parameters<typeof makeTick>): Promise<MutationResults['tick_job']['kind']> {
  return (await store.write(makeTick(...args))).kind;
}

async function fire(store: Store, ...args: Parameters<typeof makeFire>): Promise<MutationResults['fire_job']['kind']> {
  return (await store.write(makeFire(...args))).kind;
}

async function end(store: Store, id: string): Promise<void> {
  const ref = store.find(id)?.ref ?? 0;
  assert.equal(await store.write({ kind: 'advance', ref, to: 'delivering', at: 2000 }), true);
}

for (const [name, openStore] of Object.entries(open)) {
  describe(`${name}: jobs`, () => {
    records(openStore);
    instants(openStore);
    outOfTurn(openStore);
  });
}

function records(openStore: OpenStore): void {
  it('keeps jobs by name, one of a name in each profile', async (t) => {
    const store = openStore(t);
    const [b, a] = [
      makeJob('1', { name: 'b' }),
      makeJob('2', { name: 'a', blueprint: { key: 'k', values: { x: 'é\0"' } } }),
    ];
    for (const job of [b, a]) assert.equal(await store.write({ kind: 'put_job', job, expect: 'new' }), 'stored');
    assert.deepEqual(store.jobs.list(), [a, b]);
    const same = makeJob('3', { name: 'a' });
    assert.equal(await store.write({ kind: 'put_job', job: same, expect: 'new' }), 'name_taken');
    assert.equal(await store.write({ kind: 'put_job', job: { ...same, profile: 'p' }, expect: 'new' }), 'stored');
    assert.equal(await store.write({ kind: 'put_job', job: makeJob('1'), expect: 'new' }), 'name_taken');
  });

  it('changes a job that is there, and no other', async (t) => {
    const store = openStore(t);
    await store.write({ kind: 'put_job', job: makeJob('1'), expect: 'new' });
    await store.write({ kind: 'put_job', job: makeJob('2'), expect: 'new' });
    const job = makeJob('1', { schedule: '0 9 * * *' });
    assert.equal(await store.write({ kind: 'put_job', job, expect: 'old' }), 'stored');
    assert.equal(store.jobs.list()[0]?.schedule, '0 9 * * *');
    assert.equal(
      await store.write({ kind: 'put_job', job: { ...job, name: 'name-of-2' }, expect: 'old' }),
      'name_taken',
    );
    assert.equal(await store.write({ kind: 'put_job', job: makeJob('9'), expect: 'old' }), 'unknown');
  });

  it('tells by its version that a user has changed something', async (t) => {
    const store = openStore(t);
    const versions = [store.jobs.version()];
    await store.write({ kind: 'put_job', job: makeJob('1'), expect: 'new' });
    versions.push(store.jobs.version());
    await store.write({ kind: 'pause_job', job: '1', paused: true, now: 5 });
    versions.push(store.jobs.version());
    assert.equal(await store.write({ kind: 'remove_job', id: '1' }), true);
    versions.push(store.jobs.version());
    assert.equal(await store.write({ kind: 'remove_job', id: '1' }), false);
    assert.deepEqual(versions, [0, 1, 2, 3]);
    await tick(store, '1', 1000);
    assert.equal(store.jobs.version(), 3);
  });

  it('forgets where a job stood when it is removed', async (t) => {
    const store = openStore(t);
    await store.write({ kind: 'put_job', job: makeJob('1'), expect: 'new' });
    await store.write({ kind: 'watch_job', job: '1', signature: 's', now: 5 });
    assert.deepEqual(store.jobs.state('1'), { paused: null, cursor: 5, signature: 's', ref: null });
    await store.write({ kind: 'remove_job', id: '1' });
    assert.equal(store.jobs.state('1').cursor, null);
  });
}

function instants(openStore: OpenStore): void {
  it('takes an instant once, also when two ask at once', async (t) => {
    const store = openStore(t);
    const both = await Promise.all([tick(store, 'j', 5000), tick(store, 'j', 5000, { now: 5001 })]);
    assert.deepEqual(both, ['stored', 'claimed']);
    assert.equal(store.list({ limit: 9 }).length, 1);
    assert.equal(store.find('j-5000')?.dispatch.due_at, 5000);
    assert.deepEqual(store.jobs.ticks('j', 9), [{ due_at: 5000, outcome: 'fired', ref: 1, missed: 0 }]);
  });

  it('never goes back behind an instant it has dealt with', async (t) => {
    const store = openStore(t);
    await tick(store, 'j', 5000);
    await end(store, 'j-5000');
    assert.equal(await tick(store, 'j', 4000), 'claimed');
    assert.equal(await tick(store, 'other', 4000), 'stored');
    assert.equal(await tick(store, 'j', 6000), 'stored');
  });

  it('does not take an instant again when the job counts anew from an earlier time', async (t) => {
    const store = openStore(t);
    await tick(store, 'j', 5000);
    await end(store, 'j-5000');
    await store.write({ kind: 'watch_job', job: 'j', signature: 's', now: 1000 });
    assert.equal(await tick(store, 'j', 5000), 'claimed');
    assert.equal(await tick(store, 'j', 4000), 'stored');
  });

  it('starts no second run while one waits or works, and does once it is over', async (t) => {
    const store = openStore(t);
    await tick(store, 'j', 5000);
    assert.equal(store.jobs.isRunning('j'), true);
    assert.equal(await tick(store, 'j', 6000), 'running');
    await store.write({ kind: 'advance', ref: 1, to: 'running', at: 6500 });
    assert.equal(await tick(store, 'j', 7000), 'running');
    // The agent has answered; its delivery may take hours and holds up nothing.
    await end(store, 'j-5000');
    assert.equal(store.jobs.isRunning('j'), false);
    assert.equal(await tick(store, 'j', 8000, { missed: 3 }), 'stored');
    assert.deepEqual(
      store.jobs.ticks('j', 9).map(({ due_at, outcome, missed }) => [due_at, outcome, missed]),
      [
        [8000, 'fired', 3],
        [7000, 'overlapped', 0],
        [6000, 'overlapped', 0],
        [5000, 'fired', 0],
      ],
    );
  });

  it('remembers what was missed without a run', async (t) => {
    const store = openStore(t);
    assert.equal(await tick(store, 'j', 5000, { dispatch: null, missed: 4 }), 'missed');
    assert.deepEqual(store.jobs.ticks('j', 1), [{ due_at: 5000, outcome: 'missed', ref: null, missed: 4 }]);
    assert.equal(await tick(store, 'j', 5000), 'claimed');
    assert.equal(store.list({ limit: 9 }).length, 0);
  });

  it('fires no paused job, and goes on from now when it is resumed', async (t) => {
    const store = openStore(t);
    assert.equal(await tick(store, 'j', 1000, { paused: true }), 'paused');
    await store.write({ kind: 'pause_job', job: 'k', paused: true, now: 1000 });
    assert.equal(await tick(store, 'k', 2000), 'paused');
    assert.deepEqual(store.jobs.ticks('k', 9), []);
    await store.write({ kind: 'pause_job', job: 'k', paused: false, now: 9000 });
    assert.equal(await tick(store, 'k', 8000), 'claimed');
    assert.equal(await tick(store, 'k', 10_000, { paused: true }), 'stored');
  });

  it('forgets old instants in slices', async (t) => {
    const store = openStore(t);
    for (const at of [1000, 2000, 3000]) await tick(store, 'j', at, { dispatch: null });
    assert.equal(await store.write({ kind: 'forget_ticks', before: 3000, limit: 1 }), 1);
    assert.equal(await store.write({ kind: 'forget_ticks', before: 3000, limit: 9 }), 1);
    assert.equal(store.jobs.ticks('j', 9).length, 1);
  });
}

function outOfTurn(openStore: OpenStore): void {
  it('fires for an event, and holds its delivery id', async (t) => {
    const store = openStore(t);
    const claim = makeClaim('event-1');
    assert.equal(await fire(store, 'j', 'a', { claim }), 'stored');
    assert.equal(await fire(store, 'j', 'b', { claim }), 'duplicate');
    assert.equal(store.jobs.state('j').cursor, null);
  });

  it('does not fire for an event while a run is under way, but has the event answered', async (t) => {
    const store = openStore(t);
    await tick(store, 'j', 5000);
    const claim = makeClaim('event-1');
    assert.equal(await fire(store, 'j', 'a', { claim }), 'running');
    assert.equal(store.isClaimed(claim, 1000), true);
    assert.equal(store.find('a'), null);
    assert.equal(await fire(store, 'j', 'b', { claim }), 'duplicate');
  });

  it('drops an event for a paused job without holding its id', async (t) => {
    const store = openStore(t);
    await store.write({ kind: 'pause_job', job: 'j', paused: true, now: 500 });
    const claim = makeClaim('event-1');
    assert.equal(await fire(store, 'j', 'a', { claim }), 'paused');
    assert.equal(store.isClaimed(claim, 1000), false);
    await store.write({ kind: 'pause_job', job: 'j', paused: false, now: 600 });
    assert.equal(await fire(store, 'j', 'a', { claim }), 'stored');
  });

  it('can be tried by hand while it is paused, beside a server', async (t) => {
    const store = openStore(t);
    assert.equal(await fire(store, 'j', 'a', { paused: true, even_paused: true, inbox: true }), 'stored');
    assert.equal(store.inbox(9).length, 1);
    assert.deepEqual(store.audit(), []);
  });
}
