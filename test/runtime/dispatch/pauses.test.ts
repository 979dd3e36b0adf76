/** A paused route: its events are accepted and held, across a restart; events that cannot be held are rejected. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { DispatchBench } from '../../helpers/dispatch-bench.ts';
import { claimOf, deferred, dispatchBench, stateOf, storedIn } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { makeFire } from '../../helpers/jobs.ts';

const HOUR_MS = 3_600_000;

const pause = ({ store, clock }: DispatchBench, until: number | null = null) =>
  store.write({ kind: 'pause_route', profile: 'default', route: 'alerts', paused: true, until, now: clock.now() });

const accept = ({ service }: DispatchBench, id: string, mode: 'agent' | 'message' = 'agent') =>
  service.accept(makeDispatch(id, { mode, delivery_id: id }), claimOf(id), null);

const to = (id: string, mode: 'direct' | 'message') =>
  makeDispatch(id, { mode, delivery_id: id, deliveries: [{ target: 'messenger_a', extra: {}, unresolved: [] }] });

it('holds runs and messages during the pause, and does not reject those of other routes for them', async () => {
  const bench = dispatchBench({ context: { limits: () => ({ max_concurrent_runs: 4, max_queued_runs: 1 }) } });
  await bench.service.start();
  await pause(bench, bench.clock.now() + HOUR_MS);
  assert.deepEqual(await accept(bench, 'one'), { kind: 'accepted' });
  assert.deepEqual(await bench.service.accept(to('two', 'message'), claimOf('two'), null), { kind: 'accepted' });
  assert.deepEqual(await bench.service.accept(to('three', 'message'), claimOf('two'), null), { kind: 'duplicate' });
  await settle();
  assert.deepEqual(await accept(bench, 'four'), { kind: 'accepted' }, 'held events do not fill the queue');
  await bench.clock.run(HOUR_MS - 1);
  assert.deepEqual([bench.runs.length, bench.deliveries.length], [0, 0]);
  await bench.clock.run(2);
  assert.deepEqual([bench.runs.length, bench.deliveries.map(({ text }) => text).includes('prompt of two')], [2, true]);
  for (const id of ['one', 'two', 'four']) assert.equal(stateOf(bench.store, id), 'done');
});

it('keeps the duration of a pause when the clock moved back', async () => {
  const bench = dispatchBench();
  await bench.service.start();
  await pause(bench, bench.clock.now() + HOUR_MS);
  await accept(bench, 'one');
  await settle();
  bench.clock.jump(-72 * HOUR_MS);
  await bench.clock.run(HOUR_MS - 60_000);
  assert.equal(bench.runs.length, 0);
  await bench.clock.run(120_000);
  assert.equal(bench.runs.length, 1);
});

it('rejects a direct delivery with a retry time, and stores nothing of it', async () => {
  const bench = dispatchBench();
  await bench.service.start();
  const send = (id: string) => bench.service.deliver(to(id, 'direct'), claimOf('1'), 10_000);
  await pause(bench, bench.clock.now() + 90_000);
  const refused = { kind: 'overloaded', reason: 'route_paused', retry_after_seconds: 90 };
  assert.deepEqual(await send('a'), refused);
  await pause(bench);
  assert.deepEqual(await send('a'), { ...refused, retry_after_seconds: 300 });
  assert.equal(storedIn(bench.store, 'a'), null);
  assert.equal(bench.deliveries.length, 0);
});

it('stops without waiting for held work', async () => {
  const bench = dispatchBench();
  await bench.service.start();
  await pause(bench);
  await accept(bench, 'one');
  assert.deepEqual(await bench.service.stop(10_000), { drained: true, abandoned: 0 });
  assert.equal(stateOf(bench.store, 'one'), 'pending');
});

it('fires a job for one of the held events, and ends the others', async () => {
  const ended: string[] = [];
  const slow = deferred<string>();
  const bench = dispatchBench({
    agent: () => slow.promise,
    context: {
      jobs: { fire: async () => ({ kind: 'unknown_job' }), isPaused: () => false },
      observer: { finished: (_owner, state, reason) => void ended.push(`${state} ${reason}`) },
    },
  });
  await bench.service.start();
  await pause(bench, bench.clock.now() + HOUR_MS);
  for (const id of ['one', 'two', 'three'])
    assert.equal((await bench.store.write(makeFire('j', id, { now: bench.clock.now() }))).kind, 'stored');
  bench.service.wake();
  await bench.clock.run(HOUR_MS + 10);
  assert.equal(bench.runs.length, 1);
  slow.resolve('answer');
  await settle();
  assert.deepEqual(ended.sort(), ['done null', 'skipped job_already_running', 'skipped job_already_running']);
});
