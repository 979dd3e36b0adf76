/** Coalesce groups: the latest event waits for all of them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeClaim, makeDispatch, makeJoin } from '../../../helpers/dispatches.ts';
import type { StoreOpener } from './subject.ts';
import { audit, find, idsOf, overview, take } from './subject.ts';

export function groups(open: StoreOpener): void {
  it('keeps the latest event of a group and skips the earlier ones, across restarts', async (t) => {
    const opened = await open(t);
    const seen = [];
    for (const [id, at] of [
      ['a', 1000],
      ['b', 11_000],
      ['c', 21_000],
    ] as const) {
      const result = await opened.store.write(makeJoin(id, 'pr-1', at));
      seen.push(result.kind === 'stored' ? [result.superseded, result.due_at] : []);
      await (id === 'a' ? opened.restart() : opened.crash());
    }
    const { store } = opened;
    assert.deepEqual(seen, [
      [0, 31_000],
      [1, 41_000],
      [2, 51_000],
    ]);
    assert.deepEqual(
      [(await find(store, 'a'))?.state, (await find(store, 'a'))?.reason?.endsWith(' b')],
      ['skipped', true],
    );
    assert.equal((await find(store, 'c'))?.dispatch.superseded, 2);
    const early = await take(store, 50_999);
    assert.deepEqual([early.runs, early.waiting, early.next_due_at], [[], 0, 51_000]);
    assert.deepEqual(await idsOf(store, await take(store, 51_000)), ['c']);
    assert.deepEqual(await audit(store), []);
  });

  it('gives a run the newest events of a burst that keeps all, across kills', async (t) => {
    const opened = await open(t);
    const part = (id: string) => ({ line: `- ${id} \u0000$& m-${id}`, at: [7, 9], max_events: 3, marker: `m-${id}` });
    const join = (id: string, now: number, rest: object = { burst: part(id) }) =>
      opened.store.write(
        makeJoin(id, 'k', now, { dispatch: makeDispatch(id, { prompt: `before |after ${id}`, ...rest }) }),
      );
    await join('old', 1000, {});
    for (const [id, at] of [
      ['a', 2000],
      ['b', 3000],
      ['c', 4000],
      ['d', 5000],
    ] as const) {
      await join(id, at);
      if (id === 'b') await opened.crash();
    }
    const list = (count: string, ...ids: readonly string[]) => [
      ...(count === '' ? [] : [`[${count} not listed.]`]),
      ...ids.map((id) => `- ${id} \u0000$& m-${ids.at(-1)}`),
    ];
    const prompts = async (...ids: readonly string[]) =>
      Promise.all(ids.map(async (id) => (await find(opened.store, id))?.dispatch.prompt));
    const expected = [
      ['a', list('1 earlier event is', 'a')],
      ['b', list('1 earlier event is', 'a', 'b')],
      ['d', list('2 earlier events are', 'b', 'c', 'd')],
    ] as const;
    const texts = expected.map(([id, lines]) => {
      const all = lines.join('\n');
      return `before ${all}|a${all}fter ${id}`;
    });
    assert.deepEqual(await prompts('a', 'b', 'd'), texts);
    assert.deepEqual((await find(opened.store, 'b'))?.reason, 'merged into c');
    const found = await find(opened.store, 'd');
    assert.deepEqual([found?.dispatch.burst, found?.dispatch.superseded], [null, 4]);
    assert.deepEqual(await idsOf(opened.store, await take(opened.store, 90_000)), ['d']);
    await join('e', 91_000);
    assert.deepEqual(await prompts('e', 'd'), [
      texts[2]?.replace(/^.*$/s, () => {
        const [line] = list('', 'e');
        return `before ${line}|a${line}fter e`;
      }),
      texts[2],
    ]);
    // Events that retention has removed are counted.
    await opened.store.write({ kind: 'cleanup', before: 1e6, after: 0, limit: 99 });
    const [left] = await prompts('d');
    const line = list('4 earlier events are', 'd').join('\n');
    assert.equal(left, `before ${line}|a${line}fter d`);
    assert.deepEqual(await audit(opened.store), []);
  });

  it('waits no longer than max_wait after the first event', async (t) => {
    const { store } = await open(t);
    const limits = { window_ms: 30_000, max_wait_ms: 50_000 };
    const due = [];
    for (const [id, at] of [
      ['a', 1000],
      ['b', 20_000],
      ['c', 40_000],
    ] as const) {
      const result = await store.write(makeJoin(id, 'k', at, { limits }));
      due.push(result.kind === 'stored' && result.due_at);
    }
    assert.deepEqual(due, [31_000, 50_000, 51_000]);
  });

  it('closes a group when its run is taken: the next event opens another', async (t) => {
    const { store } = await open(t);
    await store.write(makeJoin('a', 'k\0', 1000));
    assert.deepEqual(await idsOf(store, await take(store, 31_000)), ['a']);
    assert.equal((await overview(store)).backlog.groups, 0);
    const next = await store.write(makeJoin('b', 'k\0', 50_000));
    assert.deepEqual(next.kind === 'stored' && [next.superseded, next.due_at], [0, 80_000]);
    assert.equal((await find(store, 'a'))?.state, 'running');
  });

  it('makes every group due on a flush, and still lets an event join', async (t) => {
    const { store } = await open(t);
    await store.write(makeJoin('a', 'k', 1000));
    await store.write(makeJoin('b', 'l', 1000));
    assert.equal(await store.write({ kind: 'flush_groups', now: 2000 }), null);
    const late = await store.write(makeJoin('c', 'l', 2000));
    assert.equal(late.kind === 'stored' && late.superseded, 1);
    assert.deepEqual(await idsOf(store, await take(store, 2000)), ['a']);
    await store.write({ kind: 'flush_groups', now: 3000 });
    assert.deepEqual(await idsOf(store, await take(store, 3000)), ['c']);
  });

  it('counts a repeat of a delivery id as a duplicate and leaves the group alone', async (t) => {
    const { store } = await open(t);
    await store.write(makeJoin('a', 'k', 1000, { claim: makeClaim('same') }));
    const repeat = await store.write(makeJoin('b', 'k', 2000, { claim: makeClaim('same') }));
    assert.deepEqual(repeat, { kind: 'duplicate' });
    assert.equal((await take(store, 30_999)).next_due_at, 31_000);
    assert.deepEqual(await idsOf(store, await take(store, 31_000)), ['a']);
  });

  it('keeps groups apart by profile, route and key', async (t) => {
    const { store } = await open(t);
    await store.write(makeJoin('a', 'k', 1000));
    await store.write(makeJoin('b', 'l', 1000));
    await store.write(makeJoin('c', 'k', 1000, { dispatch: makeDispatch('c', { route: 'other' }) }));
    await store.write(makeJoin('d', 'k', 1000, { dispatch: makeDispatch('d', { profile: 'other' }) }));
    assert.equal((await overview(store)).backlog.groups, 4);
  });
}
