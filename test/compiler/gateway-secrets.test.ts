/** `gateway.store` and `gateway.console` in a config: their plans, and the checks of their secrets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileFiles, printed } from '../helpers/compile.ts';

const ROUTES = `
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes: { pulls: { prompt: "{title}" } }
`;

const compiled = (gateway: string, mode = 0o600) =>
  compileFiles({ 'hookwright.yaml': { content: `gateway: ${gateway}\n${ROUTES}`, mode } });

const planOf = (gateway: string) => {
  const result = compiled(gateway);
  assert.deepEqual(result.diagnostics, [], printed(result));
  return result.output?.table.gateway;
};

describe('gateway.store', () => {
  test('is SQLite by default and with `sqlite`', () => {
    assert.deepEqual(planOf('{}')?.store, { kind: 'sqlite' });
    assert.deepEqual(planOf('{ store: sqlite }')?.store, { kind: 'sqlite' });
  });

  test('keeps references, and has the defaults of the docs', () => {
    assert.deepEqual(planOf('{ store: { postgres: env:DATABASE_URL } }')?.store, {
      kind: 'postgres',
      url: { kind: 'env', value: 'DATABASE_URL', scope: 'default' },
      listen: true,
      schema: 'hookwright',
      key: null,
    });
  });

  for (const [store, rule] of [
    ['postgres', 'invalid-value'],
    ['{ listen: false }', 'missing-key'],
    ['{ postgres: env:URL, schema: "My Schema" }', 'invalid-value'],
    ['{ postgres: "env:MY URL" }', 'secret-reference'],
    ['{ postgres: env:URL, key: short }', 'secret-short'],
  ])
    test(`${store} is ${rule}`, () =>
      assert.deepEqual(
        compiled(`{ store: ${store} }`).diagnostics.map((each) => each.rule),
        [rule],
      ));

  test('a URL with a password is a literal secret, and none is shown', () => {
    const url = 'postgres://hooks:correct-horse@db.internal/hooks';
    const open = printed(compiled(`{ store: { postgres: "${url}" } }`, 0o644));
    assert.match(open, /secret-exposed/);
    assert.doesNotMatch(open, /correct-horse/);
    assert.equal(printed(compiled(`{ store: { postgres: "${url}" } }`)), '');
    assert.equal(printed(compiled('{ store: { postgres: "postgres://hooks@db.example.org/hooks" } }', 0o644)), '');
    assert.doesNotMatch(printed(compiled('{ store: { postgres: "hooks:correct-horse@db" } }')), /correct-horse/);
  });
});

describe('gateway.console', () => {
  test('is off by default, and binds the loopback interface', () => {
    assert.equal(planOf('{}')?.console, null);
    assert.deepEqual(planOf('{ console: {} }')?.console, { host: '127.0.0.1', port: 8645, token: null });
  });
});
