import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ruleOf } from '../../compiler/diagnostics/rule.ts';
import { createFacts } from '../../compiler/source/load-env.ts';
import { compileSubscriptions, SubscriptionsError } from '../../compiler/stages/compile-subscriptions.ts';
import type { MachineFacts } from '../../compiler/views/views.ts';
import { compileConfig, HOME, IN_FORCE } from '../helpers/compile.ts';
import { cpuTime } from '../helpers/cpu-time.ts';
import { memoryFiles } from '../helpers/memory-files.ts';

const output = compileConfig(`
platforms:
  webhook:
    enabled: true
    host: 0.0.0.0
    secret: env:S
    routes:
      static: { prompt: x }
jobs:
  report: { schedule: "0 8 * * *", prompt: Report. }
`).output;
assert.ok(output !== null);
// As in the runtime: parsed from the bytes.
const table = JSON.parse(output.routesJson);

const facts: MachineFacts = createFacts({ files: memoryFiles({}), home: HOME, env: () => new Map(), jobs: [] });
const scope = { table, facts, rules: IN_FORCE };
const compile = (entries: unknown) => compileSubscriptions(JSON.stringify(entries), scope);

test('an entry has the same plan as a static route with the same text', () => {
  const config = { prompt: '{title}', events: ['push', 'issue*'], filters: { field: 'a', equals: 1 }, deliver: 'log' };
  const { routes, rejected, problems } = compile({ one: config });
  const yaml = `platforms: { webhook: { enabled: true, host: 0.0.0.0, secret: env:S, routes: { one: ${JSON.stringify(config)} } } }`;
  const plan = compileConfig(yaml).output?.table.routes.one;
  assert.deepEqual(routes, [{ ...plan, at: { file: 'webhook_subscriptions.json', line: 1 } }]);
  assert.deepEqual([rejected, problems], [[], []]);
});

test('a number beyond JavaScript keeps its digits in a filter', () => {
  const id = '8202522731445525542';
  const text = `{"one":{"prompt":"x","filters":{"any":[{"field":"id","gte":${id}},{"field":"id","in":[1,${id}]}]}}}`;
  const { routes, rejected } = compileSubscriptions(text, scope);
  assert.deepEqual(rejected, []);
  const filters = routes[0]?.filters;
  assert.ok(filters?.kind === 'all' || filters?.kind === 'any');
  const found = filters.filters.map((each) => (each.kind === 'leaf' ? each.exact : null));
  assert.deepEqual(found, [id, `[1,${id}]`]);
});

test('rejects only the invalid entry, with its reason', () => {
  const { routes, rejected } = compile({
    good: { prompt: 'x' },
    misspelt: { promt: 'x' },
    'Bad Name': {},
    open: { secret: 'INSECURE_NO_AUTH', prompt: 'x' },
    job: { cron_job: 'reprot' },
    text: 'x',
    fine: { cron_job: 'report' },
  });
  assert.deepEqual(
    routes.map(({ name }) => name),
    ['good', 'fine'],
  );
  assert.deepEqual(
    rejected.map(({ name, reason }) => `${name} ${reason.split(':')[0]}`),
    ['misspelt unknown-key', 'Bad Name invalid-name', 'open insecure-bind', 'job unknown-job', 'text wrong-type'],
  );
});

test('returns warnings together with a plan', () => {
  const { routes, problems } = compile({ weak: { secret: 'kd83Hs0', prompt: 'x' } });
  assert.equal(routes.length, 1);
  assert.deepEqual(
    problems.map(({ rule, subscription, path }) => ({ rule, severity: ruleOf(rule).severity, subscription, path })),
    [{ rule: 'secret-short', severity: 'warning', subscription: 'weak', path: ['weak', 'secret'] }],
  );
});

test('rejects a text that is not a JSON object', () => {
  for (const text of ['', '{', '[]', 'null', '"x"', '{"a":{}}x']) {
    assert.throws(() => compileSubscriptions(text, scope), SubscriptionsError, text);
  }
  assert.deepEqual(compileSubscriptions('\ufeff{}', scope).routes, []);
});

describe('an invalid entry does not affect another one', () => {
  const BAD: readonly unknown[] = [null, 5, [], { promt: 1 }, { prompt: null }, { key: null, public_key: null }];
  const NAMES = ['key', 'public_key', 'deliver', 'secret', 'prompt', 'events', 'filters'];
  for (const first of BAD) {
    for (const second of BAD) {
      test(`${JSON.stringify(first)}, ${JSON.stringify(second)}`, () => {
        for (const name of NAMES) {
          const { routes, rejected } = compile({ [name]: first, public_key: second, fresh: { prompt: 'x' } });
          assert.deepEqual(
            routes.map((route) => route.name),
            ['fresh'],
          );
          assert.deepEqual(new Set(rejected.map((entry) => entry.name)), new Set([name, 'public_key']));
        }
      });
    }
  }

  test('rejects a key of any length quickly', () => {
    const ms = cpuTime(() => void compile({ one: { filters: { any: [{ ['match'.repeat(20_000)]: 1 }] } } }));
    assert.ok(ms < 2_000, `${ms} ms`);
  });
});

test('with a shared database, rejects secrets in files outside the home', () => {
  const paths = ['/etc/hostname', '~/x', 'a/../../x', '..', 'C:\\x', '\\\\host\\x', 'secrets/sender', 'a..b'];
  const entries = Object.fromEntries(paths.map((path, n) => [`s${n}`, { prompt: 'x', secret: `file:${path}` }]));
  const others = {
    rotating: { prompt: 'x', secrets: ['env:S', { value: 'file:/x', expires_at: '2031-01-01T00:00:00Z' }] },
    token: { prompt: 'x', verify_token: 'file:/x' },
    key: { prompt: 'x', public_key: 'file:/x' },
  };
  const refused = (store: object) => {
    const shared = { ...table, gateway: { ...table.gateway, store } };
    const { problems } = compileSubscriptions(JSON.stringify({ ...entries, ...others }), { ...scope, table: shared });
    return problems.filter(({ rule }) => rule === 'secret-reference').map(({ path }) => path.join('.'));
  };
  const outside = ['s0', 's1', 's2', 's3', 's4', 's5'].map((name) => `${name}.secret`);
  const postgres = { kind: 'postgres', url: table.secret, listen: true, schema: 'hookwright', key: null };
  assert.deepEqual(refused(postgres), [...outside, 'rotating.secrets.1', 'token.verify_token', 'key.public_key']);
  assert.deepEqual(refused({ kind: 'sqlite' }), []);
});
