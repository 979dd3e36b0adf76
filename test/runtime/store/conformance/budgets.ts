/** Budgets: runs are reserved when their events are accepted; tokens and cost decide whether a run begins. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../../../runtime/store/contract.ts';
import type { Ref } from '../../../../runtime/store/records.ts';
import type { BudgetSpan } from '../../../../schemas/built/operations/types.ts';
import { HOLDER, makeAccept, makeClaim, makeDispatch, makeJoin } from '../../../helpers/dispatches.ts';
import { makeFire, makeTick } from '../../../helpers/jobs.ts';
import type { StoreOpener } from './subject.ts';
import { accept, advance, audit, load, take } from './subject.ts';

const HOUR = 3_600_000;

const span = (limits: Partial<BudgetSpan> = {}): BudgetSpan => ({
  ...{
    kind: 'budget',
    key: '["route","default","alerts","hour"]',
    runs: null,
    tokens: null,
    cost: null,
    since: 0,
    until: HOUR,
  },
  ...limits,
});

const kindOf = async (store: Store, id: string, budgets: readonly BudgetSpan[], now = 1000): Promise<string> => {
  const claim = makeClaim(id, now + HOUR);
  const { kind, ...rest } = await store.write(
    makeAccept(id, { dispatch: makeDispatch(id), claim, limits: budgets, now }),
  );
  return 'first' in rest && rest.first ? `${kind}, first` : kind;
};

/** Accepts runs, and takes and begins each of them. */
async function beginAll(store: Store, ids: readonly string[], budgets: readonly BudgetSpan[], now = 1000) {
  const refs: Ref[] = [];
  for (const id of ids) refs.push(await accept(store, id, { limits: budgets, now }));
  await take(store, now);
  const begun: string[] = [];
  for (const ref of refs) begun.push((await begin(store, ref, budgets, now)).kind);
  return { refs, begun };
}

const begin = (store: Store, ref: Ref, budgets: readonly BudgetSpan[], at = 1000) =>
  store.write({ kind: 'begin_run', ref, holder: HOLDER, limits: budgets, job: null, at });

const used = (input_tokens: number, cost: number | null = null) => ({
  usage: { agent: null, input_tokens, output_tokens: null, cost },
});

export function budgets(open: StoreOpener): void {
  it('allows exactly its number of runs, however many are accepted at once, even after a crash', async (t) => {
    const opened = await open(t);
    const all = Array.from({ length: 20 }, (_, at) => `e${String(at).padStart(2, '0')}`);
    const first = await Promise.all(all.slice(0, 5).map((id) => kindOf(opened.store, id, [span({ runs: 7 })])));
    assert.deepEqual(new Set(first), new Set(['stored']));
    await opened.crash();
    const rest = await Promise.all(all.slice(5).map((id) => kindOf(opened.store, id, [span({ runs: 7 })])));
    assert.deepEqual(rest.sort(), [
      ...new Array<string>(12).fill('over_limit'),
      'over_limit, first',
      ...['stored', 'stored'],
    ]);
    assert.equal((await opened.store.read({ kind: 'list', filter: { limit: 50 } })).length, 7);
    assert.deepEqual(await audit(opened.store), []);
  });

  it('charges nothing for duplicates and rejected events, whose id stays free', async (t) => {
    const { store } = await open(t);
    const budget = [span({ runs: 2 })];
    assert.equal(await kindOf(store, 'a', budget), 'stored');
    assert.equal(await kindOf(store, 'a', budget), 'duplicate');
    assert.equal(await kindOf(store, 'b', budget), 'stored');
    assert.equal(await kindOf(store, 'c', budget), 'over_limit, first');
    assert.equal(await kindOf(store, 'a', budget), 'duplicate');
    assert.equal(await kindOf(store, 'c', [span({ runs: 2, since: HOUR, until: 2 * HOUR })], HOUR), 'stored');
  });

  it('reserves a run in each of several budgets, or in none', async (t) => {
    const { store } = await open(t);
    const of = (key: string, runs: number): BudgetSpan => span({ key, runs });
    assert.equal(await kindOf(store, 'a', [of('route', 5), of('all', 1)]), 'stored');
    for (const id of ['b', 'c', 'd']) assert.match(await kindOf(store, id, [of('route', 5), of('all', 1)]), /^over/);
    for (const id of ['e', 'f', 'g', 'h']) assert.equal(await kindOf(store, id, [of('route', 5)]), 'stored', id);
    assert.equal(await kindOf(store, 'i', [of('route', 5)]), 'over_limit, first');
  });

  it('counts one run for the events of a coalesce group', async (t) => {
    const { store } = await open(t);
    const join = async (id: string, key: string) =>
      (await store.write({ ...makeJoin(id, key, 1000), run_limits: [span({ runs: 1 })] })).kind;
    assert.deepEqual(
      [await join('a', 'x'), await join('b', 'x'), await join('c', 'y')],
      ['stored', 'stored', 'over_limit'],
    );
    assert.equal(await join('d', 'x'), 'stored');
  });

  it('skips an instant of a job, and an event of it, and counts only runs', async (t) => {
    const { store } = await open(t);
    const budgets = [span({ runs: 2 })];
    const kinds: string[] = [];
    kinds.push((await store.write(makeTick('j', 1000, { limits: budgets }))).kind);
    kinds.push((await store.write(makeTick('j', 2000, { limits: budgets }))).kind);
    kinds.push((await store.write(makeFire('j', 'a', { limits: budgets, claim: makeClaim('a') }))).kind);
    const { runs } = await take(store, 3000);
    await advance(store, runs[0]?.ref ?? 0, 'skipped', 3000, { reason: 'silent' });
    kinds.push((await store.write(makeFire('j', 'b', { limits: budgets, claim: makeClaim('b') }))).kind);
    const second = await take(store, 3000);
    await advance(store, second.runs[0]?.ref ?? 0, 'skipped', 3000, { reason: 'silent' });
    kinds.push((await store.write(makeFire('j', 'c', { limits: budgets, claim: makeClaim('c') }))).kind);
    kinds.push((await store.write(makeTick('j', 4000, { limits: budgets }))).kind);
    assert.deepEqual(kinds, ['stored', 'running', 'running', 'stored', 'over_limit', 'over_limit']);
    const ticks = await store.read({ kind: 'job_ticks', job: 'j', limit: 9 });
    assert.deepEqual(
      ticks.map(({ outcome }) => outcome),
      ['budget', 'overlapped', 'fired'],
    );
    assert.equal(await store.read({ kind: 'is_claimed', key: makeClaim('c'), now: 1000 }), false);
  });

  it('begins all runs while the sum is below the limit, which running ones may exceed', async (t) => {
    const { store } = await open(t);
    const budgets = [span({ tokens: 100 })];
    const { refs, begun } = await beginAll(store, ['a', 'b', 'c', 'd'], budgets);
    assert.deepEqual(begun, ['begun', 'begun', 'begun', 'begun']);
    const [a = 0, b = 0, c = 0, d = 0] = refs;
    await advance(store, a, 'skipped', 2000, { reason: 'silent', limits: budgets, ...used(99) });
    assert.deepEqual((await beginAll(store, ['e'], budgets)).begun, ['begun']);
    await advance(store, b, 'skipped', 2000, { reason: 'silent', limits: budgets });
    await advance(store, c, 'skipped', 2000, { reason: 'silent', limits: budgets, ...used(70) });
    assert.equal(await kindOf(store, 'f', budgets, 2000), 'over_limit, first');
    assert.equal(await advance(store, d, 'done', 2100, { answer: 'x', limits: budgets, ...used(50) }), true);
    const [row] = await store.read({ kind: 'guard_rows', of: 'budget' });
    assert.equal((JSON.parse(row?.body ?? '') as { tokens: number }).tokens, 219);
  });

  it('skips a run when the budget is full, and allows runs again in the next window', async (t) => {
    const { store } = await open(t);
    const now = [span({ cost: 2 })];
    const { refs } = await beginAll(store, ['a', 'b'], now);
    await advance(store, refs[0] ?? 0, 'skipped', 1500, { reason: 'silent', limits: now, ...used(1, 2) });
    assert.equal(await kindOf(store, 'c', now, 1500), 'over_limit, first');
    await take(store, 2000);
    assert.equal((await begin(store, refs[1] ?? 0, now, 2000)).kind, 'over_limit');
    const { state, reason, finished_at } = await load(store, refs[1] ?? 0);
    assert.deepEqual([state, reason, finished_at], ['skipped', 'budget', 2000]);
    const next = [span({ cost: 2, since: HOUR, until: 2 * HOUR })];
    assert.deepEqual((await beginAll(store, ['d'], next, HOUR)).begun, ['begun']);
    assert.deepEqual(await audit(store), []);
  });

  it('counts the usage of a failed run, and nothing for a run that a crash has ended', async (t) => {
    const opened = await open(t);
    const budgets = [span({ tokens: 10 })];
    const { refs } = await beginAll(opened.store, ['a', 'b'], budgets);
    const [a = 0, b = 0] = refs;
    await opened.crash();
    const recover = { kind: 'recover', holder: 'next', now: 2000, under_way: { runs: [], attempts: [] } } as const;
    await opened.store.write(recover);
    await take(opened.store, 2000, { holder: 'next' });
    const beginNext = (ref: Ref) =>
      opened.store.write({ kind: 'begin_run', ref, holder: 'next', limits: budgets, job: null, at: 2000 });
    assert.equal((await beginNext(b)).kind, 'begun');
    await advance(opened.store, b, 'pending', 2500, { holder: 'next', due_at: 9000, limits: budgets, ...used(10) });
    assert.equal((await beginNext(a)).kind, 'over_limit');
    assert.equal((await beginNext(a)).kind, 'gone');
  });

  it('keeps the spent amounts when the clock goes back, and for gateways in other zones', async (t) => {
    const { store } = await open(t);
    const at = (since: number): readonly BudgetSpan[] => [span({ runs: 1, since, until: since + HOUR })];
    assert.equal(await kindOf(store, 'a', at(5 * HOUR), 5 * HOUR), 'stored');
    assert.match(await kindOf(store, 'b', at(3 * HOUR), 3 * HOUR), /^over/, 'two hours back');
    assert.equal(await kindOf(store, 'c', at(4 * HOUR), 4 * HOUR), 'stored', 'the next window by the new time');
    assert.match(await kindOf(store, 'd', at(4 * HOUR - 1000), 4 * HOUR + 1000), /^over/);
    assert.match(await kindOf(store, 'e', at(4.5 * HOUR), 4.5 * HOUR), /^over/, 'it has not ended');
  });
}
