/** Budgets in the dispatcher, with a fake clock: which runs begin, wait, and end. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FindLimits } from '../../../runtime/dispatch/context.ts';
import type { DispatchObserver } from '../../../runtime/dispatch/dispatcher.ts';
import type { OverLimit } from '../../../runtime/store/run-limits.ts';
import { claimOf, dispatchBench, storedIn } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

const HOUR = 3_600_000;

function limited(limits: Partial<Record<'runs' | 'tokens' | 'cost', number>>): FindLimits {
  const counted: FindLimits['counted'] = (_of, now) => {
    const since = Math.floor(now / HOUR) * HOUR;
    const all = { runs: null, tokens: null, cost: null, ...limits };
    return [{ kind: 'budget', key: 'all', ...all, since, until: since + HOUR }];
  };
  return { counted, metered: (of, now) => (limits.tokens === undefined ? [] : counted(of, now)) };
}

/** @param uses tokens of each run, in order @param seconds duration of a run */
function bench(limiter: FindLimits, uses: readonly number[], seconds = 10) {
  const refused: OverLimit[] = [];
  let [running, most] = [0, 0];
  const observer: DispatchObserver = { overLimit: (_owner, over) => void refused.push(over) };
  const store = createMemoryStore();
  const made = dispatchBench({
    store,
    context: { limiter, observer, limits: () => ({ max_concurrent_runs: 4, max_queued_runs: 1000 }) },
    async agent(_request, report) {
      const input_tokens = uses[made.runs.length - 1] ?? 0;
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => void made.clock.after(seconds * 1000, resolve));
      running--;
      report?.used({ input_tokens, output_tokens: null, cost: null });
      return 'yes';
    },
  });
  const send = async (...ids: string[]) =>
    Promise.all(ids.map(async (id) => (await made.service.accept(makeDispatch(id), claimOf(id), null)).kind));
  const states = (...ids: string[]) => ids.map((id) => storedIn(store, id)?.state ?? 'none');
  return { ...made, refused, send, states, most: () => most };
}

describe('budgets', () => {
  it('of runs: the rest is rejected, and logged once', async () => {
    const { send, refused, lines } = bench(limited({ runs: 2 }), [1, 1]);
    assert.deepEqual(await send('a', 'b', 'c', 'd'), ['accepted', 'accepted', 'over_limit', 'over_limit']);
    assert.deepEqual(
      refused.map(({ first }) => first),
      [true, false],
    );
    assert.equal(lines.filter(({ fields }) => fields.budget !== undefined).length, 1);
  });

  it('of tokens: runs begin while the sum is below it, and are skipped when it is full', async () => {
    const { send, states, clock, runs, most, refused } = bench(limited({ tokens: 100 }), [40, 40, 40, 40]);
    await send('a', 'b', 'c', 'd', 'e');
    await clock.run(9_000);
    assert.equal(runs.length, 4, 'max_concurrent_runs');
    await clock.run(60_000);
    assert.deepEqual([runs.length, most()], [4, 4]);
    assert.deepEqual(states('a', 'b', 'c', 'd', 'e').sort(), ['done', 'done', 'done', 'done', 'skipped']);
    assert.deepEqual(await send('f'), ['over_limit']);
    assert.equal(refused.filter(({ first }) => first).length, 1);
    await clock.run(HOUR);
    assert.deepEqual(await send('g'), ['accepted']);
  });

  it('is exceeded at most by the running runs, whatever they use', async () => {
    const { send, clock, runs } = bench(limited({ tokens: 100 }), [10, 10, 90, 50, 50, 50]);
    await send('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
    await clock.run(300_000);
    const spent = [10, 10, 90, 50, 50, 50].slice(0, runs.length).reduce((sum, tokens) => sum + tokens, 0);
    assert.ok(spent >= 100 && runs.length <= 5, `${runs.length} runs, ${spent} tokens`);
  });
});
