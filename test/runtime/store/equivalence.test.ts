import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import fc from 'fast-check';
import { claimKey } from '../../../runtime/store/claim-key.ts';
import { createMemoryStore } from '../../../runtime/store/memory-store.ts';
import type { Mutation, Ref } from '../../../runtime/store/mutations.ts';
import { openCommandStore } from '../../../runtime/store/sqlite-store.ts';
import { DISPATCH_STATES } from '../../../runtime/store/states.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { makeAccept, makeClaim, makeCoalesce, makeDispatch } from '../../helpers/dispatches.ts';
import { openJournaledStore } from '../../helpers/journaled-store.ts';
import { renumbered } from '../../helpers/renumbered.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** A change without what must differ each time (id, time), which is added when it is applied. */
type Recipe = (id: string, now: number) => Mutation | 'restart';

const small = fc.integer({ min: 0, max: 5 });
const deliveryId = fc.constantFrom('1', '2', '3', 'x\0y', '\ud800');
const route = fc.constantFrom('alerts', 'other');
const ref = fc.integer({ min: 1, max: 15 });

const recipe: fc.Arbitrary<Recipe> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({
        deliveryId,
        route,
        state: fc.constantFrom('pending', 'delivering'),
        ttl: small,
        generated: fc.boolean(),
      })
      .chain((parts) => fc.record({ parts: fc.constant(parts), later: fc.boolean(), inbox: fc.boolean() }))
      .map(
        ({ parts, later, inbox }): Recipe =>
          (id, now) => {
            const claim = parts.generated
              ? null
              : makeClaim(parts.deliveryId, now + parts.ttl * 40, { route: parts.route });
            const dispatch = makeDispatch(id, { route: parts.route, delivery_id: parts.deliveryId, accepted_at: now });
            const state = parts.state as 'pending' | 'delivering';
            return makeAccept(id, { dispatch, claim, state, inbox, claiming: later ? 'later' : 'now', now });
          },
      ),
  },
  {
    weight: 4,
    arbitrary: fc.record({ deliveryId, key: fc.constantFrom('k', 'l\0', 'm'), window: small }).map(
      ({ deliveryId, key, window }): Recipe =>
        (id, now) =>
          makeCoalesce(id, key, now, {
            claim: makeClaim(`${deliveryId}-${now < 1100}`, now + 100),
            limits: { window_ms: window * 20, max_wait_ms: 70 },
          }),
    ),
  },
  {
    weight: 8,
    arbitrary: fc
      .record({
        ref,
        to: fc.constantFrom(...DISPATCH_STATES),
        answer: fc.boolean(),
        reason: fc.boolean(),
        claim: fc.option(deliveryId),
      })
      .map(
        ({ ref, to, answer, reason, claim }): Recipe =>
          (_, now) => ({
            ...{ kind: 'advance', ref, to, at: now },
            ...(answer ? { answer: `answer \0 at ${now}` } : {}),
            ...(reason ? { reason: `reason ${now}` } : {}),
            ...(claim === null ? {} : { claim: makeClaim(claim, now + 50) }),
          }),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ ref, key: fc.constantFrom('k', 'l\0') }).map(
      ({ ref, key }): Recipe =>
        (_, now) => ({ kind: 'release', profile: 'default', route: 'alerts', key, ref, now }),
    ),
  },
  fc.record({ limit: fc.integer({ min: 1, max: 3 }), after: fc.option(deliveryId) }).map(
    ({ limit, after }): Recipe =>
      (_, now) => ({
        ...{ kind: 'expire_claims', now, limit },
        after: after === null ? '' : claimKey(makeClaim(after)),
      }),
  ),
  fc.record({ age: small, after: small, limit: fc.integer({ min: 1, max: 9 }) }).map(
    ({ age, after, limit }): Recipe =>
      (_, now) => ({ kind: 'cleanup', before: now - age * 15, after, limit }),
  ),
  fc.array(ref, { maxLength: 3 }).map(
    (refs): Recipe =>
      () => ({ kind: 'take_inbox', refs }),
  ),
  fc.constant<Recipe>(() => 'restart'),
);

/** Everything that can be asked, in a form that can be compared. */
function look(store: Store, now: number): unknown {
  const { reason, ...error } = store.lastError() ?? { reason: null };
  return {
    list: store.list({ limit: 100 }),
    loaded: Array.from({ length: 25 }, (_, ref) => store.load(ref)),
    open: store.open(0, 100),
    groups: store.groups(),
    inbox: store.inbox(100),
    claims: ['1', '2', '3', 'x\0y', '\ud800'].map((id) => store.isClaimed(makeClaim(id), now)),
    tallies: [...store.tallies()].sort((a, b) => (a.route ?? '').localeCompare(b.route ?? '')),
    oldest: store.oldestOpen(),
    error: [error, reason],
    audit: store.audit(),
  };
}

async function behavesLikeTheModel(t: TestContext, open: (path: string) => Store): Promise<void> {
  let run = 0;
  const home = tempDir(t);
  await fc.assert(
    fc.asyncProperty(fc.array(recipe, { minLength: 5, maxLength: 40 }), async (recipes) => {
      const path = join(home, `${run++}`, 'state.db');
      const model = createMemoryStore();
      const refs: Ref[] = [];
      let store = renumbered(open(path), refs);
      try {
        for (const [step, make] of recipes.entries()) {
          const now = 1000 + step * 10;
          const mutation = make(`d${String(step).padStart(2, '0')}`, now);
          if (mutation === 'restart') {
            await store.close();
            store = renumbered(open(path), refs);
          } else {
            assert.deepEqual(await store.write(mutation), await model.write(mutation), mutation.kind);
          }
          if (step % 5 > 0 && step < recipes.length - 1) continue;
          await store.settle();
          assert.deepEqual(look(store, now), look(model, now));
        }
        assert.deepEqual(model.audit(), []);
      } finally {
        await store.close();
      }
    }),
    { seed: 3, numRuns: 40, includeErrorInReport: true },
  );
}

it('the durable store behaves like the model, whatever happens and whenever it is restarted', (t) =>
  behavesLikeTheModel(t, openCommandStore));

it('so does one that is killed with what came last in its journal alone', (t) =>
  behavesLikeTheModel(t, openJournaledStore));
