import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CountedMetrics } from '../../../modules/telemetry/runtime/metrics.ts';
import type { LiveFigures, StoredFigures } from '../../../runtime/metrics/metrics.ts';

const STORED = {
  work: { runs_active: 4, runs_queued: 9 },
  tallies: [
    {
      profile: 'default',
      route: 'ci',
      accepted: 9,
      removed: 0,
      pending: 1,
      running: 2,
      delivering: 0,
      waiting: 0,
      done: 5,
      dead: 1,
      skipped: 0,
    },
    {
      profile: 'ops',
      route: null,
      accepted: 1,
      removed: 0,
      pending: 0,
      running: 0,
      delivering: 0,
      waiting: 0,
      done: 1,
      dead: 0,
      skipped: 0,
    },
  ],
  waits: { session: 4, agent: 3, sessions: 2 },
  oldestOpenSeconds: 42,
} satisfies StoredFigures;

const LIVE: LiveFigures = {
  version: '1.2.3',
  generation: 3,
  routes: 12,
  subscriptions: 2,
  quarantined: 1,
  capture: { kept: 8, dropped: { rate: 3, queue: 0, failed: 1 } },
  storeUp: true,
  stored: STORED,
};

const OWNER = { id: 'x', profile: 'default', route: 'ci', job: null };

test('requests are counted by route and outcome, over several scrapes', async () => {
  const metrics = new CountedMetrics();
  const request = { profile: 'default', route: 'ci', outcome: 'accepted', ignored: null, ms: 2, secret: 0 } as const;
  metrics.onRequest(request);
  await metrics.read(LIVE);
  metrics.onRequest(request);
  metrics.onRequest({ ...request, outcome: 'invalid_signature', secret: 1 });
  metrics.onRequest({ ...request, profile: '', route: '', outcome: 'unknown_route' });
  metrics.onRequest({ ...request, outcome: 'ignored', ignored: 'filter' });
  metrics.onRequest({ ...request, outcome: 'ignored', ignored: 'event' });
  const { text, content_type } = await metrics.read(LIVE);
  assert.match(content_type, /^text\/plain; version=/);
  assert.match(text, /^hookwright_requests_total\{profile="default",route="ci",outcome="accepted"\} 2$/m);
  assert.match(text, /^hookwright_requests_total\{profile="default",route="ci",outcome="invalid_signature"\} 1$/m);
  assert.match(text, /^hookwright_requests_total\{profile="",route="",outcome="unknown_route"\} 1$/m);
  assert.match(
    text,
    /^hookwright_requests_total\{profile="default",route="ci",outcome="ignored",reason="filter"\} 1$/m,
  );
  assert.match(text, /^hookwright_requests_total\{profile="default",route="ci",outcome="ignored",reason="event"\} 1$/m);
  assert.match(text, /^hookwright_request_duration_seconds_count 5$/m);
  assert.match(text, /^hookwright_request_duration_seconds_bucket\{le="0\.0025"\} 5$/m);
  assert.match(text, /^hookwright_previous_secret_requests_total\{profile="default",route="ci"\} 1$/m);
});

test('table loads and reports of the dispatcher are counted', async () => {
  const metrics = new CountedMetrics();
  metrics.onTableLoad(true);
  metrics.onTableLoad(false);
  metrics.observer.runEnded?.(OWNER, 'ok', 3000);
  metrics.observer.runEnded?.({ ...OWNER, agent: 'reviewer' }, 'failed', 3);
  metrics.observer.used?.(OWNER, { input_tokens: 30, output_tokens: 2, cost: 0.5 });
  metrics.observer.attemptEnded?.('messenger_a', 'retry', 200);
  metrics.observer.retryScheduled?.('delivery');
  metrics.observer.finished?.(OWNER, 'dead', 'gone', null);
  const { text } = await metrics.read(LIVE);
  for (const line of [
    'hookwright_table_loads_total{result="served"} 1',
    'hookwright_table_loads_total{result="refused"} 1',
    'hookwright_run_duration_seconds_count{profile="default",route="ci",outcome="ok"} 1',
    'hookwright_agent_runs_total{profile="default",agent="reviewer",outcome="failed"} 1',
    'hookwright_tokens_total{profile="default",route="ci",kind="input"} 30',
    'hookwright_tokens_total{profile="default",route="ci",kind="output"} 2',
    'hookwright_cost_total{profile="default",route="ci"} 0.5',
    'hookwright_delivery_attempt_duration_seconds_count{target="messenger_a",outcome="retry"} 1',
    'hookwright_retries_total{kind="delivery"} 1',
    'hookwright_finished_total{state="dead"} 1',
  ]) {
    assert(text.split('\n').includes(line), line);
  }
});

test('counters used by alerts start at 0 for each route in service', async () => {
  const metrics = new CountedMetrics();
  const live = {
    ...LIVE,
    served: [
      { profile: 'default', name: 'new' },
      { profile: 'default', name: 'ci' },
    ],
  };
  const lines = (await metrics.read(live)).text.split('\n');
  for (const line of [
    'hookwright_table_loads_total{result="refused"} 0',
    'hookwright_requests_total{profile="default",route="new",outcome="overloaded"} 0',
    'hookwright_requests_total{profile="default",route="new",outcome="invalid_signature"} 0',
    'hookwright_run_duration_seconds_count{profile="default",route="new",outcome="failed"} 0',
    'hookwright_dispatches{profile="default",route="new",state="dead"} 0',
    // Runs of jobs.
    'hookwright_run_duration_seconds_count{profile="default",route="",outcome="failed"} 0',
    'hookwright_dispatches{profile="default",route="",state="dead"} 0',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  const dead = lines.filter((line) =>
    line.startsWith('hookwright_dispatches{profile="default",route="ci",state="dead"}'),
  );
  assert.equal(dead.length, 1);
  assert.deepEqual(metrics.requestTotals().byOutcome, { unknown_route: 0 });
});

test('runs of many routes are counted together, so that the number of series is bounded', async () => {
  const metrics = new CountedMetrics();
  for (let n = 0; n < 1000; n++) metrics.observer.runEnded?.({ ...OWNER, route: `r${n}` }, 'ok', 10);
  metrics.observer.runEnded?.({ ...OWNER, route: 'r0' }, 'ok', 10);
  const { text } = await metrics.read(LIVE);
  const counts = text.split('\n').filter((line) => line.startsWith('hookwright_run_duration_seconds_count'));
  assert.equal(counts.length, 201);
  assert.ok(counts.includes('hookwright_run_duration_seconds_count{profile="default",route="r0",outcome="ok"} 2'));
  assert.ok(
    counts.includes('hookwright_run_duration_seconds_count{profile="default",route="(others)",outcome="ok"} 800'),
  );
});

test('a scrape shows the current state, including the event loop', async () => {
  const metrics = new CountedMetrics();
  const tallies = STORED.tallies.map((tally) => ({ ...tally, route: 'gone' }));
  await metrics.read({ ...LIVE, stored: { ...STORED, tallies } });
  const { text } = await metrics.read(LIVE);
  for (const line of [
    'hookwright_build_info{version="1.2.3"} 1',
    'hookwright_table_generation 3',
    'hookwright_routes{kind="static"} 12',
    'hookwright_routes{kind="subscription"} 2',
    'hookwright_routes{kind="quarantined"} 1',
    'hookwright_work{stage="runs_queued"} 9',
    'hookwright_dispatches{profile="default",route="ci",state="done"} 5',
    'hookwright_dispatches{profile="ops",route="",state="done"} 1',
    'hookwright_oldest_open_dispatch_seconds 42',
    'hookwright_waiting_runs{cause="session"} 4',
    'hookwright_waiting_runs{cause="agent"} 3',
    'hookwright_busy_sessions 2',
  ]) {
    assert(text.split('\n').includes(line), line);
  }
  assert.doesNotMatch(text, /route="gone"/);
  assert.match(text, /^nodejs_eventloop_lag_p99_seconds /m);
  assert.match(text, /^process_resident_memory_bytes /m);
});

test('events before the metrics are loaded are counted later', async () => {
  const metrics = new CountedMetrics();
  const request = { profile: 'default', route: 'ci', outcome: 'accepted', ignored: null, ms: 2, secret: 0 } as const;
  metrics.onRequest(request);
  metrics.onTableLoad(true);
  metrics.observer.retryScheduled?.('run');
  metrics.onRequest(request);
  const { text } = await metrics.read(LIVE);
  assert.match(text, /^hookwright_requests_total\{profile="default",route="ci",outcome="accepted"\} 2$/m);
  assert.match(text, /^hookwright_table_loads_total\{result="served"\} 1$/m);
  assert.match(text, /^hookwright_retries_total\{kind="run"\} 1$/m);
});

test('a scrape while the store is unreadable says so, without stale values', async () => {
  const metrics = new CountedMetrics();
  await metrics.read(LIVE);
  const { text } = await metrics.read({ ...LIVE, storeUp: false, stored: null });
  assert(text.split('\n').includes('hookwright_store_up 0'));
  assert.doesNotMatch(
    text,
    /^hookwright_(?:work|waiting_runs|busy_sessions|dispatches|oldest_open_dispatch_seconds)\b/m,
  );
  assert.match((await metrics.read(LIVE)).text, /^hookwright_store_up 1$/m);
});
