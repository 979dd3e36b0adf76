/** The shipped alert rules, as Prometheus reads them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
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

test('the alert about dead deliveries fires while some were just given up, and not for old ones', { skip }, (t) => {
  const path = join(tempDir(t), 'dead.yaml');
  const series = 'hookwright_dispatches{instance="a",profile="default",route="ci",state="dead"}';
  const fires = (at: string, value: number) => ({
    expr: `count(ALERTS{alertname="HookwrightDeliveriesDead",route="ci",alertstate="firing"}) or vector(0)`,
    ...{ eval_time: at, exp_samples: [{ labels: '{}', value }] },
  });
  const tested = {
    interval: '1m',
    input_series: [{ series, values: '2x20 5x40' }],
    promql_expr_test: [fires('15m', 0), fires('25m', 1), fires('50m', 0)],
  };
  writeFileSync(path, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: [tested] }));
  promtool('test', 'rules', path);
});
