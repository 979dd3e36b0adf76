/** What every store promises, as tests that each implementation runs. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { Ref, Step } from '../../../runtime/store/mutations.ts';
import type { DispatchState } from '../../../runtime/store/states.ts';
import { DISPATCH_STATES } from '../../../runtime/store/states.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { makeAccept, makeClaim, makeCoalesce, makeDispatch } from '../../helpers/dispatches.ts';

export type OpenStore = (t: TestContext) => Store;

export async function accept(
  store: Store,
  id: string,
  ...rest: Parameters<typeof makeAccept> extends [string, ...infer R] ? R : never
): Promise<Ref> {
  const result = await store.write(makeAccept(id, ...rest));
  assert.equal(result.kind, 'stored');
  return result.kind === 'stored' ? result.ref : 0;
}

/** Ways that lead to each state from `pending`. */
const WAYS: Readonly<Record<DispatchState, readonly DispatchState[]>> = {
  pending: [],
  running: ['running'],
  delivering: ['running', 'delivering'],
  done: ['running', 'delivering', 'done'],
  dead: ['running', 'dead'],
  skipped: ['running', 'skipped'],
};

async function bring(store: Store, ref: Ref, state: DispatchState, at = 2000): Promise<void> {
  for (const to of WAYS[state]) assert.equal(await store.write({ kind: 'advance', ref, to, at }), true);
}

const failedRun: Step = {
  kind: 'run',
  index: null,
  outcome: 'failed',
  started_at: 1500,
  at: 2000,
  reason: 'exit code 1',
  next_at: 5000,
  sent: 0,
  message_id: null,
};

export function storeContract(name: string, open: OpenStore): void {
  describe(`${name}: claims`, () => claims(open));
  describe(`${name}: states`, () => states(open));
  describe(`${name}: coalesce groups`, () => groups(open));
  describe(`${name}: queries`, () => queries(open));
  describe(`${name}: retention`, () => retention(open));
}

function claims(open: OpenStore): void {
  it('takes one of two dispatches with the same delivery id, also when both are written at once', async (t) => {
    const store = open(t);
    const claim = makeClaim('same');
    const results = await Promise.all([
      store.write(makeAccept('a', { claim })),
      store.write(makeAccept('b', { claim })),
    ]);
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['stored', 'duplicate'],
    );
    assert.deepEqual([store.find('a')?.state, store.find('b')], ['pending', null]);
  });

  it('takes many at once, each id once, with their ways after them', async (t) => {
    const store = open(t);
    await accept(store, 'expired', { claim: makeClaim('id-3', 900), now: 500 });
    await accept(store, 'held', { claim: makeClaim('id-7', 9000) });
    const ids = Array.from({ length: 45 }, (_, index) => (index === 20 ? 5 : index));
    const results = await Promise.all(
      ids.map((id, index) => store.write(makeAccept(`d${index}`, { claim: makeClaim(`id-${id}`, 9000) }))),
    );
    const refused = results.flatMap(({ kind }, index) => (kind === 'duplicate' ? [index] : []));
    assert.deepEqual(refused, [7, 20]);
    const refs = results.flatMap((result) => (result.kind === 'stored' ? [result.ref] : []));
    assert.equal(new Set(refs).size, 43);
    const step = { ...failedRun, kind: 'delivery', index: 0, outcome: 'ok', reason: null } as const;
    const ways = refs.flatMap((ref) => [
      store.write({ kind: 'advance', ref, to: 'delivering', at: 2000, started_at: 1500, answer: `answer ${ref}` }),
      store.write({ kind: 'advance', ref, to: 'delivering', at: 2100, steps: [{ ...failedRun, reason: 'first' }] }),
      store.write({ kind: 'advance', ref, to: 'done', at: 2200, steps: [step] }),
      store.write({ kind: 'advance', ref, to: 'dead', at: 2300, reason: 'too late' }),
    ]);
    const went = await Promise.all(ways);
    assert.deepEqual(
      new Set(went.map((ok, index) => `${index % 4} ${ok}`)),
      new Set(['0 true', '1 true', '2 true', '3 false']),
    );
    for (const ref of refs) {
      const stored = store.load(ref);
      assert.deepEqual([stored?.state, stored?.started_at, stored?.answer], ['done', 1500, `answer ${ref}`]);
      assert.deepEqual(stored?.steps, [{ ...failedRun, reason: 'first' }, step]);
    }
    assert.deepEqual(store.audit(), []);
  });

  it('scopes ids to profile and route', async (t) => {
    const store = open(t);
    await accept(store, 'a', { claim: makeClaim('same') });
    await accept(store, 'b', { claim: makeClaim('same', 9e9, { route: 'other' }) });
    await accept(store, 'c', { claim: makeClaim('same', 9e9, { profile: 'other' }) });
    // Separators and NULs in a delivery id forge nobody else's.
    await accept(store, 'd', { claim: makeClaim('x\0y') });
    await accept(store, 'e', { claim: makeClaim('x\0z') });
    await accept(store, 'f', { claim: makeClaim('["default","alerts","same"]') });
  });

  it('forgets an id once it has expired', async (t) => {
    const store = open(t);
    await accept(store, 'a', { claim: makeClaim('same', 5000), now: 1000 });
    assert.equal(store.isClaimed(makeClaim('same'), 4999), true);
    assert.equal(store.isClaimed(makeClaim('same'), 5000), false);
    await accept(store, 'b', { claim: makeClaim('same', 9000), now: 5000 });
    assert.equal(store.isClaimed(makeClaim('same'), 5000), true);
  });

  it('only looks at an id that is to be claimed later, and claims it with the change that says so', async (t) => {
    const store = open(t);
    const later = { claim: makeClaim('same'), claiming: 'later', state: 'delivering' } as const;
    await accept(store, 'a', later);
    const ref = await accept(store, 'b', later);
    assert.equal(store.isClaimed(makeClaim('same'), 2000), false);
    await store.write({ kind: 'advance', ref, to: 'done', at: 2000, claim: makeClaim('same') });
    assert.equal(store.isClaimed(makeClaim('same'), 2000), true);
    assert.equal((await store.write(makeAccept('c', later))).kind, 'duplicate');
  });

  it('claims nothing for a dispatch without a claim', async (t) => {
    const store = open(t);
    await accept(store, 'a', { claim: null });
    await accept(store, 'b', { claim: null });
    assert.equal(store.tallies()[0]?.accepted, 2);
  });

  it('removes expired claims in slices and keeps the others', async (t) => {
    const store = open(t);
    for (const id of ['a', 'b', 'c']) await accept(store, id, { claim: makeClaim(id, 2000) });
    await accept(store, 'd', { claim: makeClaim('d', 9000) });
    const removed: number[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const slice: { removed: number; next: string | null } = await store.write({
        ...{ kind: 'expire_claims', now: 3000, after, limit: 2 },
      });
      removed.push(slice.removed);
      after = slice.next;
    }
    assert.deepEqual(removed, [2, 1, 0]);
    assert.equal(store.isClaimed(makeClaim('d'), 3000), true);
    // Even for a clock that was put back.
    for (const id of ['a', 'b', 'c']) await accept(store, `${id} again`, { claim: makeClaim(id, 2000), now: 1000 });
  });
}

function states(open: OpenStore): void {
  it('keeps the times, the answer and the steps of a dispatch on its way', async (t) => {
    const store = open(t);
    const ref = await accept(store, 'a');
    const text = 'answer with NUL \0, a lone surrogate \ud800 and 😀';
    await store.write({ kind: 'advance', ref, to: 'running', at: 1500 });
    await store.write({
      kind: 'advance',
      ref,
      to: 'pending',
      at: 2000,
      ready_at: 5000,
      reason: 'exit code 1',
      steps: [failedRun],
    });
    assert.equal(store.open(0, 10)[0]?.ready_at, 5000);
    assert.equal(store.load(ref)?.reason, 'exit code 1');
    await store.write({ kind: 'advance', ref, to: 'running', at: 5000 });
    await store.write({ kind: 'advance', ref, to: 'delivering', at: 6000, answer: text });
    const sent: Step = {
      ...failedRun,
      kind: 'delivery',
      index: 0,
      outcome: 'ok',
      reason: null,
      next_at: null,
      sent: 1,
      message_id: '7\0',
    };
    await store.write({ kind: 'advance', ref, to: 'done', at: 7000, steps: [sent] });
    const stored = store.find('a');
    assert.deepEqual(
      [stored?.state, stored?.started_at, stored?.answered_at, stored?.finished_at, stored?.reason],
      ['done', 5000, 6000, 7000, null],
    );
    assert.equal(stored?.answer, text);
    assert.deepEqual(stored?.steps, [failedRun, sent]);
    assert.deepEqual(stored?.dispatch, makeDispatch('a'));
  });

  it('gives every text back as it came', async (t) => {
    const store = open(t);
    const dispatch = makeDispatch('a', { event: 'e\0f', delivery_id: '\ud800"\\', prompt: 'p\0q', replay_of: 'r' });
    await accept(store, 'a', { dispatch });
    assert.deepEqual(store.find('a')?.dispatch, dispatch);
    const [summary] = store.list({ limit: 1 });
    assert.deepEqual([summary?.event, summary?.delivery_id, summary?.replay_of], ['e\0f', '\ud800"\\', 'r']);
  });

  for (const ended of ['done', 'dead', 'skipped'] as const) {
    it(`lets nobody change a dispatch that is ${ended}`, async (t) => {
      const store = open(t);
      const ref = await accept(store, 'a');
      await bring(store, ref, ended);
      const before = store.load(ref);
      for (const to of DISPATCH_STATES) {
        const late = {
          kind: 'advance',
          ref,
          to,
          at: 9000,
          reason: 'late',
          answer: 'late',
          steps: [failedRun],
        } as const;
        assert.equal(await store.write(late), false);
      }
      assert.deepEqual(store.load(ref), before);
      assert.deepEqual(store.audit(), []);
    });
  }

  it('lets no dispatch be done without an answer, and none that is delivering run again', async (t) => {
    const store = open(t);
    const ref = await accept(store, 'a');
    assert.equal(await store.write({ kind: 'advance', ref, to: 'done', at: 2000 }), false);
    await bring(store, ref, 'delivering');
    assert.equal(await store.write({ kind: 'advance', ref, to: 'running', at: 2000 }), false);
  });

  it('takes an answer together with its delivery', async (t) => {
    const store = open(t);
    const ref = await accept(store, 'a');
    const change = { kind: 'advance', ref, to: 'done', at: 2000, started_at: 1900, answer: 'yes' } as const;
    assert.equal(await store.write(change), true);
    const stored = store.load(ref);
    assert.deepEqual(
      [stored?.state, stored?.answer, stored?.started_at, stored?.answered_at, stored?.finished_at],
      ['done', 'yes', 1900, 2000, 2000],
    );
    assert.deepEqual(store.audit(), []);
  });

  it('answers false for a dispatch it does not know', async (t) => {
    assert.equal(await open(t).write({ kind: 'advance', ref: 99, to: 'running', at: 1 }), false);
  });
}

function groups(open: OpenStore): void {
  it('keeps the latest event of a group and skips those before it', async (t) => {
    const store = open(t);
    const results = [];
    for (const [id, at] of [
      ['a', 1000],
      ['b', 11_000],
      ['c', 21_000],
    ] as const)
      results.push(await store.write(makeCoalesce(id, 'pr-1', at)));
    const seen = results.map((result) => (result.kind === 'stored' ? [result.superseded, result.due_at] : []));
    assert.deepEqual(seen, [
      [0, 31_000],
      [1, 41_000],
      [2, 51_000],
    ]);
    assert.deepEqual(store.open(0, 10), []);
    const [group] = store.groups();
    assert.deepEqual([group?.key, group?.ref, group?.first_at], ['pr-1', store.find('c')?.ref, 1000]);
    assert.deepEqual([store.find('a')?.state, store.find('a')?.reason], ['skipped', 'superseded by b']);
    assert.equal(store.find('c')?.dispatch.superseded, 2);
    assert.deepEqual(store.audit(), []);
  });

  it('releases a group only for the dispatch that waits in it', async (t) => {
    const store = open(t);
    const first = await store.write(makeCoalesce('a', 'k\0', 1000));
    const second = await store.write(makeCoalesce('b', 'k\0', 2000));
    assert.ok(first.kind === 'stored' && second.kind === 'stored');
    const release = { kind: 'release', profile: 'default', route: 'alerts', key: 'k\0', now: 40_000 } as const;
    assert.equal(await store.write({ ...release, ref: first.ref }), false);
    assert.equal(await store.write({ ...release, ref: second.ref }), true);
    assert.equal(await store.write({ ...release, ref: second.ref }), false);
    assert.deepEqual(
      store.open(0, 10).map(({ id, ready_at }) => [id, ready_at]),
      [['b', 40_000]],
    );
    const next = await store.write(makeCoalesce('c', 'k\0', 50_000));
    assert.equal(next.kind === 'stored' && next.superseded, 0);
  });

  it('counts a repeat of a delivery id as a duplicate and leaves the group alone', async (t) => {
    const store = open(t);
    await store.write(makeCoalesce('a', 'k', 1000, { claim: makeClaim('same') }));
    const before = store.groups();
    assert.deepEqual(await store.write(makeCoalesce('b', 'k', 2000, { claim: makeClaim('same') })), {
      kind: 'duplicate',
    });
    assert.deepEqual(store.groups(), before);
  });

  it('keeps groups apart by profile, route and key', async (t) => {
    const store = open(t);
    await store.write(makeCoalesce('a', 'k', 1000));
    await store.write(makeCoalesce('b', 'l', 1000));
    await store.write(makeCoalesce('c', 'k', 1000, { dispatch: makeDispatch('c', { route: 'other' }) }));
    await store.write(makeCoalesce('d', 'k', 1000, { dispatch: makeDispatch('d', { profile: 'other' }) }));
    assert.equal(store.groups().length, 4);
  });
}

function queries(open: OpenStore): void {
  it('lists the newest first, by state, route, job, time and page', async (t) => {
    const store = open(t);
    const refs: Ref[] = [];
    for (const [id, route] of [
      ['a', 'one'],
      ['b', 'two'],
      ['c', 'one'],
      ['d', 'two'],
    ] as const) {
      refs.push(
        await accept(store, id, { dispatch: makeDispatch(id, { route, accepted_at: 1000 * (refs.length + 1) }) }),
      );
    }
    await accept(store, 'e', {
      dispatch: makeDispatch('e', { route: null, job: 'brief', mode: 'job', accepted_at: 5000 }),
    });
    await bring(store, refs[0] ?? 0, 'done');
    await bring(store, refs[1] ?? 0, 'dead');
    const ids = (query: Parameters<Store['list']>[0]): string =>
      store
        .list(query)
        .map(({ id }) => id)
        .join('');
    assert.equal(ids({ limit: 10 }), 'edcba');
    assert.equal(ids({ limit: 2 }), 'ed');
    assert.equal(ids({ limit: 10, before: refs[2] ?? 0 }), 'ba');
    assert.equal(ids({ limit: 10, route: 'one' }), 'ca');
    assert.equal(ids({ limit: 10, state: 'pending' }), 'edc');
    assert.equal(ids({ limit: 10, state: 'dead' }), 'b');
    assert.equal(ids({ limit: 10, job: 'brief' }), 'e');
    assert.equal(ids({ limit: 10, since: 3000 }), 'edc');
    assert.equal(ids({ limit: 10, since: 2000, route: 'two', state: 'dead' }), 'b');
  });

  it('answers open dispatches in order and in pages', async (t) => {
    const store = open(t);
    for (const id of ['a', 'b', 'c', 'd']) await accept(store, id, { max_concurrent: 2 });
    await bring(store, store.find('b')?.ref ?? 0, 'done');
    const first = store.open(0, 2);
    assert.deepEqual(
      first.map(({ id, state, max_concurrent }) => [id, state, max_concurrent]),
      [
        ['a', 'pending', 2],
        ['c', 'pending', 2],
      ],
    );
    assert.deepEqual(
      store.open(first.at(-1)?.ref ?? 0, 2).map(({ id }) => id),
      ['d'],
    );
  });

  it('hands out what another process put in until it is taken', async (t) => {
    const store = open(t);
    const ref = await accept(store, 'a', { inbox: true });
    await accept(store, 'b');
    assert.deepEqual(store.inbox(10), [ref]);
    assert.equal(store.openOne(ref)?.id, 'a');
    await store.write({ kind: 'take_inbox', refs: [ref] });
    assert.deepEqual(store.inbox(10), []);
    await bring(store, ref, 'done');
    assert.equal(store.openOne(ref), null);
  });

  it('takes an answer that needs no run, and knows its newest dispatch', async (t) => {
    const store = open(t);
    assert.equal(store.last(), 0);
    const ref = await accept(store, 'a', { state: 'delivering', answer: 'text' });
    assert.deepEqual([store.last(), store.load(ref)?.answer, store.load(ref)?.answered_at], [ref, 'text', 1000]);
  });

  it('knows the oldest open dispatch and the last error', async (t) => {
    const store = open(t);
    assert.deepEqual([store.oldestOpen(), store.lastError()], [null, null]);
    const ref = await accept(store, 'a', { dispatch: makeDispatch('a', { accepted_at: 500 }) });
    await accept(store, 'b', { dispatch: makeDispatch('b', { accepted_at: 700 }) });
    assert.equal(store.oldestOpen(), 500);
    await store.write({ kind: 'advance', ref, to: 'dead', at: 900, reason: 'no such channel' });
    assert.equal(store.oldestOpen(), 700);
    assert.deepEqual(store.lastError(), { id: 'a', route: 'alerts', at: 900, reason: 'no such channel' });
  });

  it('adds up: accepted is the sum of all states, for every route', async (t) => {
    const store = open(t);
    for (const [index, state] of DISPATCH_STATES.entries()) {
      const id = `d${index}`;
      const dispatch = makeDispatch(id, { route: index % 2 === 0 ? 'even' : 'odd' });
      await bring(store, await accept(store, id, { dispatch }), state);
    }
    const [even, odd] = [...store.tallies()].sort((a, b) => (a.route ?? '').localeCompare(b.route ?? ''));
    assert.deepEqual([even?.accepted, even?.pending, even?.delivering, even?.dead], [3, 1, 1, 1]);
    assert.deepEqual([odd?.accepted, odd?.running, odd?.done, odd?.skipped], [3, 1, 1, 1]);
    assert.deepEqual(store.audit(), []);
  });
}

function retention(open: OpenStore): void {
  it('removes what ended long ago, slice by slice, and nothing else', async (t) => {
    const store = open(t);
    const refs: Ref[] = [];
    for (const id of ['a', 'b', 'c', 'd', 'e']) refs.push(await accept(store, id));
    await bring(store, refs[0] ?? 0, 'done', 2000);
    await bring(store, refs[1] ?? 0, 'dead', 2000);
    await bring(store, refs[2] ?? 0, 'done', 8000);
    const first = await store.write({ kind: 'cleanup', before: 5000, after: 0, limit: 2 });
    assert.deepEqual(first, { removed: 2, next: refs[1] });
    const second = await store.write({ kind: 'cleanup', before: 5000, after: first.next ?? 0, limit: 10 });
    assert.deepEqual(second, { removed: 0, next: null });
    assert.deepEqual(
      store.list({ limit: 10 }).map(({ id }) => id),
      ['e', 'd', 'c'],
    );
    assert.deepEqual(store.audit(), []);
    assert.equal(store.tallies()[0]?.removed, 2);
  });

  it('never gives a number out twice', async (t) => {
    const store = open(t);
    const ref = await accept(store, 'a');
    await bring(store, ref, 'done');
    await store.write({ kind: 'cleanup', before: 9000, after: 0, limit: 10 });
    assert.ok((await accept(store, 'b')) > ref);
  });
}
