/** The shipped alert rules and dashboard: every metric, label and value that they name is exported. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { CountedMetrics } from '../../modules/telemetry/runtime/metrics.ts';
import { noCounts } from '../../runtime/store/tally.ts';
import { dashboard } from '../helpers/dashboard.ts';
import { ROOT } from '../helpers/root.ts';

const TEXT = readFileSync(join(ROOT, 'docs', 'alerts.yaml'), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
}

const rules = (parse(TEXT) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

/** What a gateway exports to which everything has happened that an alert may be about. */
async function exported(): Promise<string> {
  const metrics = new CountedMetrics();
  const request = { profile: 'default', route: 'ci', ignored: null, ms: 2, secret: 0 } as const;
  for (const outcome of ['accepted', 'overloaded', 'invalid_signature'] as const)
    metrics.onRequest({ ...request, outcome });
  metrics.onRequest({ ...request, outcome: 'ignored', ignored: 'event' });
  metrics.onTableLoad(false);
  metrics.observer.attemptEnded?.('slack', 'ok', 30);
  metrics.observer.retryScheduled?.('delivery');
  metrics.observer.finished?.({ id: 'x', profile: 'default', route: 'ci', job: null }, 'done', null, null);
  metrics.observer.runEnded?.({ id: 'x', profile: 'default', route: 'ci', job: null }, 'failed', 3000);
  const work = { runs_active: 0, runs_queued: 0, deliveries_active: 0, deliveries_queued: 0, groups: 0 };
  const tallies = [{ profile: 'default', route: 'ci', waiting: 0, ...noCounts() }];
  const live = { version: '1.0.0', generation: 1, routes: 1, subscriptions: 0, quarantined: 1, storeUp: true };
  const capture = { kept: 0, dropped: { rate: 0, queue: 0, failed: 0 } };
  return (
    await metrics.read({
      ...live,
      capture,
      stored: { work, tallies, waits: { session: 0, agent: 0, sessions: 0 }, oldestOpenSeconds: 1 },
    })
  ).text;
}

const SELECTOR = /((?:hookwright|process)_[a-z_]+)(?:\{([^}]*)\})?/g;
const MATCHER = /([a-z_]+)(=|!=|=~|!~)"([^"]*)"/g;

const queries: readonly (readonly [where: string, expr: string])[] = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard().flatMap(({ title, exprs }) => exprs.map((expr) => [title, expr] as const)),
];

describe('docs/alerts.yaml, docs/grafana-dashboard.json', () => {
  it('name metrics, labels and values that are exported', async () => {
    const lines = (await exported()).split('\n').filter((line) => /^(?:hookwright|process)_/.test(line));
    for (const [where, expr] of queries) {
      const selectors = [...expr.matchAll(SELECTOR)];
      assert.ok(selectors.length > 0, where);
      for (const [text, name, matchers = ''] of selectors) {
        const wanted = [...matchers.matchAll(MATCHER)].filter(([, label]) => label !== 'instance');
        const found = lines.filter((line) => line.replace(/[{ ].*/, '') === name);
        const isMet = (line: string): boolean =>
          wanted.every(([, label, operator, value]) =>
            operator === '=' ? line.includes(`${label}="${value}"`) : line.includes(`${label}="`),
          );
        assert.ok(found.some(isMet), `${where}: ${text} is not exported`);
      }
      // Labels by which the query adds up; Prometheus adds others.
      const named = new Set(selectors.map(([, name]) => name));
      const found = lines.filter((line) => named.has(line.replace(/[{ ].*/, '')));
      for (const [, list = ''] of expr.matchAll(/by \(([^)]*)\)/g)) {
        for (const label of list.split(', ').filter((one) => one !== 'instance' && one !== 'job'))
          assert.ok(
            found.some((line) => line.includes(`${label}="`)),
            `${where}: no metric of ${expr} has the label ${label}`,
          );
      }
    }
  });

  it('has for each alert how bad it is, what has happened and what to do, by labels that there are', () => {
    for (const { alert, labels, annotations } of rules) {
      assert.ok(['critical', 'warning'].includes(labels.severity), alert);
      assert.ok(annotations.summary !== '' && annotations.action !== '', alert);
      for (const [, label = ''] of annotations.summary.matchAll(/\$labels\.([a-z]+)/g))
        assert.ok(['instance', 'job', 'route'].includes(label), alert);
    }
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  });
});
