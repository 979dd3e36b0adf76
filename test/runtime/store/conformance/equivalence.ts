/** Compares any store with the one in memory: the same results for random changes, restarts and kills. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Mutation, Store } from '../../../../runtime/store/contract.ts';
import { withWaitReasons } from '../../../../runtime/store/named-waits.ts';
import type { Ref } from '../../../../runtime/store/records.ts';
import { makeClaim } from '../../../helpers/dispatches.ts';
import { createMemoryStore } from '../../../helpers/memory-store.ts';
import type { Recipe } from './recipes.ts';
import { firing, recipe } from './recipes.ts';
import type { StoreOpener } from './subject.ts';

const IDS = ['1', '2', '3', 'x\0y', '\ud800'];
const JOBS = ['j', 'k'];
const LIMITED = [{ profile: 'default', agent: 'reviewer', max_concurrent: 1 }];

/** The results of all queries, in a form that can be compared. */
export async function look(store: Store, refs: readonly Ref[], now: number): Promise<unknown> {
  const { bytes, tallies, ...overview } = await store.read({ kind: 'overview', now });
  const named = withWaitReasons(
    store,
    () => now,
    () => LIMITED,
  );
  return {
    overview,
    tallies: [...tallies].sort((a, b) => (a.route ?? '').localeCompare(b.route ?? '')),
    list: await named.store.read({ kind: 'list', filter: { limit: 100 } }),
    sessions: await store.read({ kind: 'sessions', profile: 'default' }),
    waits: await named.counts(),
    loaded: await Promise.all(refs.map((ref) => store.read({ kind: 'load', ref }))),
    claims: await Promise.all(IDS.map((id) => store.read({ kind: 'is_claimed', key: makeClaim(id), now }))),
    jobs: await store.read({ kind: 'jobs' }),
    paused: await store.read({ kind: 'guard_rows', of: 'pause' }),
    oldest: await store.read({ kind: 'oldest_due', now }),
    ticks: await Promise.all(JOBS.map((job) => store.read({ kind: 'job_ticks', job, limit: 99 }))),
    usage: [...(await store.read({ kind: 'usage', since: 1100, slot_ms: 100 }))]
      .map((sum) => JSON.stringify(Object.entries(sum).sort()))
      .sort(),
    blocked: await store.read({ kind: 'blocked' }),
    figures: await store.read({ kind: 'figures', since: 1050, slot_ms: 100 }),
    audit: await store.read({ kind: 'audit' }),
  };
}

/** Numbers may have gaps, so a dispatch is identified by its position in the order of storing. */
export function inOrder(value: unknown, refs: readonly Ref[]): unknown {
  const place = (ref: Ref): string => `#${refs.indexOf(ref)}`;
  const named = (key: string, item: unknown): unknown => {
    if (key === 'replaced' && Array.isArray(item)) return item.map(place);
    return key === 'ref' && typeof item === 'number' ? place(item) : item;
  };
  return JSON.parse(JSON.stringify(value ?? null, named));
}

/** The result of a change. The order of taken rows does not matter. */
function resultOf(kind: Mutation['kind'], result: unknown, refs: readonly Ref[]): unknown {
  const named = inOrder(result, refs);
  if (kind === 'cleanup' || kind === 'trim' || kind === 'expire_claims') return (named as { removed: number }).removed;
  if (kind !== 'take_work') return named;
  const { runs, attempts, ...rest } = named as { runs: unknown[]; attempts: unknown[] };
  const sorted = (rows: unknown[]): string[] => rows.map((row) => JSON.stringify(row)).sort();
  return { ...rest, runs: sorted(runs), attempts: sorted(attempts) };
}

const isStored = (result: unknown): result is { ref: Ref } =>
  typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'stored' && 'ref' in result;

/** Makes the change, and records the number of the stored row in `refs`. */
export async function write(store: Store, mutation: Mutation, refs: Ref[]): Promise<unknown> {
  // A position in the order of storing becomes the number that this store has assigned; otherwise it is unknown.
  const mine = 'ref' in mutation ? { ...mutation, ref: refs[mutation.ref] ?? 999_999 } : mutation;
  const result: unknown = await store.write(mine as Mutation);
  if (isStored(result)) refs.push(result.ref);
  return resultOf(mutation.kind, result, refs);
}

export function equivalence(open: StoreOpener): void {
  isTheSame(open, 'does what the store in memory does', { recipe, steps: 5, runs: 60 });
  isTheSame(open, 'holds and runs jobs of paused routes as the store in memory does', {
    recipe: firing,
    steps: 40,
    runs: 30,
  });
}

interface Trial {
  readonly recipe: fc.Arbitrary<Recipe>;
  /** The minimum. */
  readonly steps: number;
  readonly runs: number;
}

function isTheSame(open: StoreOpener, name: string, { recipe, steps, runs }: Trial): void {
  it(name, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(recipe, { minLength: steps, maxLength: 45 }), async (recipes) => {
        const opened = await open(t);
        const model = createMemoryStore();
        const refs: { readonly real: Ref[]; readonly model: Ref[] } = { real: [], model: [] };
        for (const [step, make] of recipes.entries()) {
          const now = 1000 + step * 10;
          const made = make(`d${String(step).padStart(2, '0')}`, now);
          if (made === 'restart') await opened.restart();
          else if (made === 'crash') await opened.crash();
          else {
            const [real, expected] = [await write(opened.store, made, refs.real), await write(model, made, refs.model)];
            assert.deepEqual(real, expected, `${step}: ${JSON.stringify(made)}`);
          }
          if (step % 5 > 0 && step < recipes.length - 1) continue;
          const seen = inOrder(await look(opened.store, refs.real, now), refs.real);
          assert.deepEqual(seen, inOrder(await look(model, refs.model, now), refs.model), `after ${step}`);
          assert.deepEqual(model.look({ kind: 'audit' }), []);
        }
        await opened.close();
      }),
      { seed: 3, numRuns: runs * open.share, includeErrorInReport: true },
    );
  });
}
