/** The shipped alert rules, as Prometheus reads them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CountedMetrics } from '../../modules/telemetry/runtime/metrics.ts';
import type { LiveFigures } from '../../runtime/metrics/metrics.ts';
import { noCounts } from '../../runtime/store/tally.ts';
import { ROOT } from '../helpers/root.ts';
import { skipWithout } from '../helpers/skip-without.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const RULES = join(ROOT, 'docs', 'alerts.yaml');
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
const skip = skipWithout(hasPromtool, 'promtool', 'prometheus');

const promtool = (...argv: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync('promtool', argv, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
};

test('promtool accepts the alert rules', { skip }, () => promtool('check', 'rules', RULES));

test('the first refused, shed, dead, badly signed or failed event of a new route raises its alert', {
  skip,
}, async (t) => {
  const metrics = new CountedMetrics();
  const before = seriesOf(await metrics.read(live(0)));
  metrics.onTableLoad(false);
  const request = { profile: 'default', route: 'new', ignored: null, ms: 2, secret: 0 };
  metrics.onRequest({ ...request, outcome: 'overloaded' });
  for (let n = 0; n < 30; n++) metrics.onRequest({ ...request, outcome: 'invalid_signature' });
  metrics.observer.runEnded?.({ id: 'x', profile: 'default', route: 'new', job: null }, 'failed', 3000);
  const after = seriesOf(await metrics.read(live(1)));
  const input_series = [...after].map(([series, value]) => ({
    series,
    values: `${before.get(series) ?? '_'}x5 ${value}x24`,
  }));
  const fires = (alert: string, at = '12m') => ({
    expr: `count(ALERTS{alertname="Hookwright${alert}",alertstate="firing"}) or vector(0)`,
    ...{ eval_time: at, exp_samples: [{ labels: '{}', value: 1 }] },
  });
  const promql_expr_test = [
    ...['TableRefused', 'EventsRefused', 'DeliveriesDead', 'SignaturesFail'].map((alert) => fires(alert)),
    fires('RunsFail', '25m'),
  ];
  const path = join(tempDir(t), 'first.yaml');
  const tested = { interval: '1m', input_series, promql_expr_test };
  writeFileSync(path, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: [tested] }));
  promtool('test', 'rules', path);
});

/** Of a gateway with one route. @param dead its dead deliveries; before, it accepted nothing */
const live = (dead: number): LiveFigures => ({
  ...{ version: '1.0.0', generation: 1, routes: 1, subscriptions: 0, quarantined: 0, storeUp: true },
  served: [{ profile: 'default', name: 'new' }],
  capture: { kept: 0, dropped: { rate: 0, queue: 0, failed: 0 } },
  stored: {
    work: {},
    tallies: dead === 0 ? [] : [{ profile: 'default', route: 'new', waiting: 0, ...noCounts(), dead }],
    waits: { session: 0, agent: 0, sessions: 0 },
    oldestOpenSeconds: 0,
  },
});

const seriesOf = ({ text }: { readonly text: string }): ReadonlyMap<string, string> =>
  new Map(
    [...text.matchAll(/^(hookwright_\w+)(\{.*\})? (\S+)$/gm)].map(([, name = '', labels = '{}', value = '']) => [
      name + labels.replace('{', labels === '{}' ? '{instance="a"' : '{instance="a",'),
      value,
    ]),
  );

test('the alert about dead deliveries fires for recent ones, not for old ones', { skip }, (t) => {
  const path = join(tempDir(t), 'dead.yaml');
  // Two gateways of one store: each exports what is in it.
  const series = (instance: string): string =>
    `hookwright_dispatches{job="one",instance="${instance}",profile="default",route="ci",state="dead"}`;
  const fires = (at: string, value: number) => ({
    expr: `count(ALERTS{alertname="HookwrightDeliveriesDead",route="ci",alertstate="firing"}) or vector(0)`,
    ...{ eval_time: at, exp_samples: [{ labels: '{}', value }] },
  });
  const tested = {
    interval: '1m',
    input_series: ['a', 'b'].map((instance) => ({ series: series(instance), values: '2x20 5x40' })),
    promql_expr_test: [fires('15m', 0), fires('25m', 1), fires('50m', 0)],
  };
  writeFileSync(path, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: [tested] }));
  promtool('test', 'rules', path);
});

test('pending work of two gateways that share a store is counted once', { skip }, (t) => {
  const path = join(tempDir(t), 'shared.yaml');
  const of = (instance: string, values: string) =>
    [
      'hookwright_work{stage="runs_queued",',
      'hookwright_oldest_open_dispatch_seconds{',
      'hookwright_waiting_runs{cause="session",',
    ].map((series) => ({ series: `${series}job="one",instance="${instance}"}`, values }));
  const fired = (value: number) =>
    ['RunsQueue', 'WorkWaits', 'RunsHeldUp'].map((alert) => ({
      expr: `count(ALERTS{alertname="Hookwright${alert}",alertstate="firing"}) or vector(0)`,
      ...{ eval_time: '50m', exp_samples: [{ labels: '{}', value }] },
    }));
  const tests = (
    [
      ['60x60', 0],
      ['4000x60', 1],
    ] as const
  ).map(([values, count]) => ({
    ...{ interval: '1m', input_series: [...of('a', values), ...of('b', values)], promql_expr_test: fired(count) },
  }));
  writeFileSync(path, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
  promtool('test', 'rules', path);
});
