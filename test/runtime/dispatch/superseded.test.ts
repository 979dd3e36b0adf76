/** Deliveries that are not sent because what they are about has changed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { claimOf, dispatchBench, notSent, sentOk } from '../../helpers/dispatch-bench.ts';
import { deliveriesTo, makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';

const superseded = notSent('superseded', { reason: 'superseded' });

async function deliver(outcomes: Readonly<Record<string, 'superseded' | 'ok' | 'permanent'>>) {
  const failures: unknown[] = [];
  const { service, store, clock, lines, deliveries } = dispatchBench({
    deliver: ({ target }) => {
      const outcome = outcomes[target];
      return outcome === 'superseded' ? superseded : outcome === 'ok' ? sentOk() : notSent('permanent');
    },
    context: { observer: { deliveryEnded: (_, index, failure) => void failures.push([index, failure]) } },
  });
  const dispatch = makeDispatch('a', { deliveries: deliveriesTo(...Object.keys(outcomes)), pins: { fresh: 'x' } });
  await service.accept(dispatch, claimOf('a'), null);
  await clock.run(600_000);
  await settle();
  const found = await store.read({ kind: 'find', id: 'a' });
  assert.ok(found.kind === 'found');
  const { state, reason, steps } = found.dispatch;
  const problems = lines.filter(({ level }) => level === 'warn' || level === 'error');
  const { last_error } = await store.read({ kind: 'overview', now: clock.now() });
  return { state, reason, steps, failures, problems, deliveries, last_error };
}

it('are skipped after one attempt, which is not a failure', async () => {
  const { state, reason, steps, failures, problems, deliveries, last_error } = await deliver({ one: 'superseded' });
  assert.deepEqual([state, reason], ['skipped', 'one: superseded']);
  assert.deepEqual(
    steps.map(({ outcome, next_at }) => [outcome, next_at]),
    [['superseded', null]],
  );
  assert.deepEqual([failures, problems, deliveries.length, last_error], [[], [], 1, null]);
  assert.deepEqual(deliveries[0]?.pins, { fresh: 'x' });
});

it('do not hide that another delivery has failed', async () => {
  const { state, failures } = await deliver({ one: 'superseded', two: 'permanent', three: 'ok' });
  assert.equal(state, 'dead');
  assert.deepEqual(failures, [
    [1, 'permanent reason'],
    [2, null],
  ]);
});
