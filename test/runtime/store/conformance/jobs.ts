/** Jobs: unique names, change detection, and manual runs. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readActions } from '../../../../runtime/store/actions.ts';
import type { MutationResults, Store } from '../../../../runtime/store/contract.ts';
import type { StoredJobs } from '../../../../runtime/store/queries.ts';
import type { JobState } from '../../../../runtime/store/records.ts';
import { NO_STATE } from '../../../../runtime/store/records.ts';
import { makeClaim, makeDispatch } from '../../../helpers/dispatches.ts';
import { makeFire, makeJob, makeTick } from '../../../helpers/jobs.ts';
import type { StoreOpener } from './subject.ts';
import { advance, audit, find, take, takeNew } from './subject.ts';

async function fire(store: Store, ...args: Parameters<typeof makeFire>): Promise<MutationResults['fire_job']['kind']> {
  return (await store.write(makeFire(...args))).kind;
}

const jobsOf = (store: Store): Promise<StoredJobs> => store.read({ kind: 'jobs' });
const version = (store: Store): Promise<number> => store.read({ kind: 'jobs_version' });
const isClaimed = (store: Store, id: string): Promise<boolean> =>
  store.read({ kind: 'is_claimed', key: makeClaim(id), now: 1000 });
const stateOf = async (store: Store, job: string): Promise<JobState> => (await jobsOf(store)).states[job] ?? NO_STATE;

export function jobs(open: StoreOpener): void {
  records(open);
  names(open);
  outOfTurn(open);
}

function records(open: StoreOpener): void {
  it('stores jobs by name, unique in each profile', async (t) => {
    const { store } = await open(t);
    const blueprint = { key: 'k', values: { x: 'é\0"' } };
    const [b, a] = [makeJob('1', { name: 'b' }), makeJob('2', { name: 'a', blueprint })];
    for (const job of [b, a]) {
      assert.deepEqual(await store.write({ kind: 'put_job', job, expect: 'new' }), { kind: 'stored', name: job.name });
    }
    assert.deepEqual((await jobsOf(store)).records, [a, b]);
    const put = async (job: typeof a) => (await store.write({ kind: 'put_job', job, expect: 'new' })).kind;
    assert.equal(await put(makeJob('3', { name: 'a' })), 'name_taken');
    assert.equal(await put(makeJob('3', { name: 'a', profile: 'p' })), 'stored');
    assert.equal(await put(makeJob('1')), 'name_taken');
  });

  it('names the job of a delivery, while the job is stored', async (t) => {
    const { store } = await open(t);
    const job = makeJob('1', { name: 'tea' });
    await store.write({ kind: 'put_job', job, expect: 'new' });
    for (const [id, of] of Object.entries({ stored: '1', configured: 'brief' })) {
      const dispatch = makeDispatch(id, { route: null, job: of, mode: 'job' });
      await advance(store, await takeNew(store, id, { dispatch }), 'dead', 2000, { reason: 'x' });
    }
    const names = async () => [
      ...(await store.read({ kind: 'list', filter: { limit: 9 } })).map((row) => [row.id, row.job_name]),
      ...(await store.read({ kind: 'dead_work' })).map((row) => [row.job, row.job_name]),
      [(await find(store, 'stored'))?.job, (await find(store, 'stored'))?.job_name],
    ];
    const expected = (name: string | null) => [
      ...[
        ['configured', null],
        ['stored', name],
        ['1', name],
        ['brief', null],
        ['1', name],
      ],
    ];
    assert.deepEqual(await names(), expected('tea'));
    await store.write({ kind: 'put_job', job: { ...job, name: 'coffee' }, expect: 'old' });
    assert.deepEqual(await names(), expected('coffee'));
    await store.write({ kind: 'remove_job', id: '1' });
    assert.deepEqual(await names(), expected(null));
  });

  it('changes an existing job, and no other', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    await store.write({ kind: 'put_job', job: makeJob('1'), expect: 'new' });
    await store.write({ kind: 'put_job', job: makeJob('2'), expect: 'new' });
    const change = async (job: ReturnType<typeof makeJob>) =>
      (await store.write({ kind: 'put_job', job, expect: 'old' })).kind;
    const job = makeJob('1', { schedule: '0 9 * * *' });
    assert.equal(await change(job), 'stored');
    assert.equal(await change({ ...job, name: 'name-of-2' }), 'name_taken');
    assert.equal(await change(makeJob('9')), 'unknown');
    await opened.restart();
    assert.deepEqual((await jobsOf(opened.store)).records[0], job);
  });

  it('changes its version when a user changes something', async (t) => {
    const { store } = await open(t);
    const versions = [await version(store)];
    await store.write({ kind: 'put_job', job: makeJob('1'), expect: 'new' });
    versions.push(await version(store));
    await store.write({ kind: 'pause_job', job: '1', paused: true, now: 5 });
    versions.push(await version(store));
    assert.equal(await store.write({ kind: 'remove_job', id: '1' }), true);
    versions.push(await version(store));
    assert.equal(await store.write({ kind: 'remove_job', id: '1' }), false);
    for (const [index, later] of versions.slice(1).entries())
      assert.ok(later > (versions[index] ?? later), `${versions}`);
    await store.write(makeTick('1', 1000));
    assert.equal(await version(store), versions.at(-1));
    assert.equal((await jobsOf(store)).version, versions.at(-1));
  });

  it('says for a year who has last paused or resumed a job', async (t) => {
    const opened = await open(t);
    const last = async () => readActions(await opened.store.read({ kind: 'guard_rows', of: 'action' })).get('1');
    await opened.store.write({ kind: 'put_job', job: makeJob('1'), expect: 'new' });
    await opened.store.write({ kind: 'pause_job', job: '1', paused: true, by: 'console:ann', now: 5 });
    assert.deepEqual(await last(), { did: 'paused', at: 5, by: 'console:ann' });
    await opened.store.write({ kind: 'pause_job', job: '1', paused: false, by: 'cli:root', now: 6 });
    await opened.restart();
    assert.deepEqual(await last(), { did: 'resumed', at: 6, by: 'cli:root' });
    const expire = (now: number) => opened.store.write({ kind: 'expire_claims', now, after: '', limit: 10 });
    await expire(5 + 365 * 86_400_000);
    assert.equal((await last())?.did, 'resumed');
    await expire(6 + 365 * 86_400_000);
    assert.equal(await last(), undefined);
  });

  it('forgets the position of a job when it is removed', async (t) => {
    const { store } = await open(t);
    await store.write({ kind: 'put_job', job: makeJob('1'), expect: 'new' });
    await store.write({ kind: 'watch_job', job: '1', signature: 's', now: 5 });
    assert.deepEqual(await stateOf(store, '1'), {
      paused: null,
      paused_until: null,
      cursor: 5,
      signature: 's',
      ref: null,
    });
    await store.write({ kind: 'remove_job', id: '1' });
    assert.equal((await stateOf(store, '1')).cursor, null);
  });
}

function names(open: StoreOpener): void {
  it('numbers a name that is in use, also by the config, even for many at once', async (t) => {
    const { store } = await open(t);
    const put = (id: string, numbered_beside: readonly string[], rest = {}) =>
      store.write({ kind: 'put_job', job: makeJob(id, { name: 'n', ...rest }), expect: 'new', numbered_beside });
    const results = await Promise.all([
      put('1', ['n-2']),
      put('2', ['n-2']),
      put('3', []),
      put('4', [], { profile: 'p' }),
    ]);
    assert.deepEqual(
      results.map((result) => result.kind === 'stored' && result.name),
      ['n', 'n-3', 'n-2', 'n'],
    );
    const { records } = await jobsOf(store);
    assert.deepEqual(records.map(({ id, name }) => `${id} ${name}`).sort(), ['1 n', '2 n-3', '3 n-2', '4 n']);
    assert.deepEqual(await put('5', ['n', 'x'], { name: 'x' }), { kind: 'stored', name: 'x-2' });
    assert.equal((await put('1', [])).kind, 'name_taken', 'an id is used once');
  });
}

function outOfTurn(open: StoreOpener): void {
  it('fires for an event, and claims its delivery id', async (t) => {
    const { store } = await open(t);
    const claim = makeClaim('event-1');
    assert.equal(await fire(store, 'j', 'a', { claim }), 'stored');
    assert.equal(await fire(store, 'j', 'b', { claim }), 'duplicate');
    assert.equal((await stateOf(store, 'j')).cursor, null);
  });

  it('does not fire for an event during a run, but acknowledges the event', async (t) => {
    const { store } = await open(t);
    await store.write(makeTick('j', 5000));
    const claim = makeClaim('event-1');
    assert.equal(await fire(store, 'j', 'a', { claim }), 'running');
    assert.equal(await isClaimed(store, 'event-1'), true);
    assert.equal(await find(store, 'a'), null);
    assert.equal(await fire(store, 'j', 'b', { claim }), 'duplicate');
  });

  it('drops an event for a paused job without claiming its id', async (t) => {
    const { store } = await open(t);
    await store.write({ kind: 'pause_job', job: 'j', paused: true, now: 500 });
    const claim = makeClaim('event-1');
    assert.equal(await fire(store, 'j', 'a', { claim }), 'paused');
    assert.equal(await isClaimed(store, 'event-1'), false);
    await store.write({ kind: 'pause_job', job: 'j', paused: false, now: 600 });
    assert.equal(await fire(store, 'j', 'a', { claim }), 'stored');
  });

  it('can be run by hand while it is paused', async (t) => {
    const { store } = await open(t);
    assert.equal(await fire(store, 'j', 'a', { paused: true, even_paused: true }), 'stored');
    assert.equal((await take(store, 1000)).waiting, 0);
    assert.deepEqual(await audit(store), []);
  });
}
