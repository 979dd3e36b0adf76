/** The outcome of every kind of row that an earlier version has left (format-7.sql, format-8.sql), on any engine. */
import assert from 'node:assert/strict';
import type { Advance, Store } from '../../../../runtime/store/contract.ts';
import { withWaitReasons } from '../../../../runtime/store/named-waits.ts';
import type { RunLimit } from '../../../../runtime/store/run-limits.ts';
import { makeAccept, makeAdvance, makeAttempt, makeClaim, makeTake } from '../../../helpers/dispatches.ts';
import { find, load } from '../conformance/subject.ts';

const NEXT = 'next process';
const HOUR = 3_600_000;

const span = (of: string, limits: { readonly tokens?: number; readonly runs?: number }): RunLimit => ({
  ...{
    kind: 'budget',
    key: JSON.stringify(['route', 'default', of, 'hour']),
    runs: null,
    tokens: null,
    cost: null,
    since: 0,
    until: HOUR,
  },
  ...limits,
});

/** Everything ends as it would have, and the counts of the earlier version are still valid. */
export async function endAll(store: Store): Promise<void> {
  assert.deepEqual(await waitsOf(store), {
    ...{
      'session-2': 'session 1000',
      'session-3': 'session 1000',
      'session-5': 'session 1000',
      'session-6': 'session 1000',
    },
    ...{ 'approval-1': 'approval 1000', 'approval-2': 'approval 1000' },
    ...{ 'paused-1': 'pause 1800', 'paused-2': 'pause 1800', 'other-1': 'pause 1950' },
    ...{ 'fires-1': 'pause 1900', 'fires-2': 'pause 1900', 'fires-3': 'pause 1900' },
  });
  const { states } = await store.read({ kind: 'jobs' });
  assert.deepEqual([states.resting?.paused_until, states.dynamic?.signature], [70_000, 's']);
  assert.equal(
    await store.read({ kind: 'is_claimed', key: makeClaim('delivery-ended-done', 0, { route: 'ended' }), now: 4000 }),
    true,
  );
  const refused = await store.write(
    makeAccept('refused', { claim: null, limits: [span('spent', { runs: 1 })], now: 4000 }),
  );
  assert.deepEqual(
    [refused.kind, 'first' in refused && refused.first],
    ['over_limit', false],
    'the run is still reserved',
  );

  const recovered = await store.write({
    kind: 'recover',
    holder: NEXT,
    now: 4000,
    under_way: { runs: [], attempts: [] },
  });
  assert.deepEqual([recovered.runs, recovered.given_up.map(({ id }) => id)], [6, ['direct-1']]);
  for (const route of ['paused', 'fires', 'other'])
    await store.write({ kind: 'pause_route', profile: 'default', route, paused: false, until: null, now: 4000 });
  const ended: Record<string, string> = {};
  for (let now = 200_000; now < 260_000; now += 10_000) await workOff(store, now, ended);
  assert.deepEqual(ended, {
    ...Object.fromEntries(RAN.map((id) => [id, 'ran'])),
    ...{ 'paused-2': 'sent' },
    ...{ 'fires-1': 'job_already_running', 'fires-3': 'job_already_running' },
  });
  for (const id of ['approval-1', 'approval-2'])
    assert.equal((await find(store, id))?.state, 'dead', 'no answer in time');
  const left = await store.read({ kind: 'list', filter: { limit: 99, oldest_open: true } });
  assert.deepEqual(
    left.map(({ id }) => id),
    [],
  );
  const order = (await store.read({ kind: 'list', filter: { limit: 99 } })).filter(({ session }) =>
    session?.endsWith(':a'),
  );
  const finished = order.map(({ finished_at }) => finished_at ?? 0);
  assert.deepEqual(
    finished,
    [...finished].sort((a, b) => b - a),
    'one after the other',
  );
  assert.deepEqual(await store.read({ kind: 'audit' }), []);
}

const RAN = [
  ...['session-1', 'session-2', 'session-3', 'session-4', 'session-5', 'session-6', 'group-2', 'group-4', 'paused-1'],
  ...['held-2000', 'fires-2', 'other-1', 'by-hand', 'budget-1', 'budget-2', 'taken-1', 'taken-2', 'limited-1'],
];

async function waitsOf(store: Store): Promise<Readonly<Record<string, string>>> {
  const named = withWaitReasons(
    store,
    () => 3500,
    () => [],
  );
  const rows = await named.store.read({ kind: 'list', filter: { limit: 99 } });
  return Object.fromEntries(
    rows.flatMap(({ id, waits_for, waits_since }) => (waits_for === null ? [] : [[id, `${waits_for} ${waits_since}`]])),
  );
}

/** Takes all due work, begins each run as the gateway does, and then ends it. */
async function workOff(store: Store, now: number, ended: Record<string, string>): Promise<void> {
  const { runs, attempts } = await store.write(makeTake(now, { holder: NEXT }));
  const begun: Advance[] = [];
  for (const { ref } of runs) {
    const { id, route, job, dispatch } = await load(store, ref);
    const limits = route === 'taken' ? [span(route, { tokens: 100 })] : [];
    const fired = job === null || route === null ? null : { id: job, paused: false };
    const { kind } = await store.write({ kind: 'begin_run', ref, holder: NEXT, limits, job: fired, at: now });
    ended[id] = kind !== 'begun' ? kind : dispatch.mode === 'message' ? 'sent' : 'ran';
    const usage = { agent: null, input_tokens: 1, output_tokens: null, cost: null };
    if (kind === 'begun') begun.push(makeAdvance(ref, 'done', now + ref, { holder: NEXT, answer: 'x', limits, usage }));
  }
  for (const end of begun) assert.equal(await store.write(end), true);
  for (const { ref, index, unsent } of attempts) {
    const outcome = unsent === 'refused' ? 'permanent' : 'rejected';
    const step = unsent === undefined ? {} : ({ outcome, reason: 'not_approved' } as const);
    await store.write({ ...makeAttempt(ref, index, now, step), holder: NEXT });
  }
}
