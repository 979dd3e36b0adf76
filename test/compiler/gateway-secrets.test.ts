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

describe('gateway.console.users', () => {
  const users = (text: string, rest = '') => `{ console: { ${rest} users: ${text} } }`;
  const ann = 'ann: { token: env:ANN, role: operator }';

  test('has a role and a token by name, and replaces `token`', () => {
    const console = planOf(users(`{ ${ann}, bob: { token: env:BOB, role: viewer } }`, 'host: 0.0.0.0,'))?.console;
    const ref = (value: string) => ({ kind: 'env', value, scope: 'default' });
    assert.deepEqual(console?.users, {
      ann: { token: ref('ANN'), role: 'operator' },
      bob: { token: ref('BOB'), role: 'viewer' },
    });
    assert.equal(planOf(users('{}'))?.console?.users, undefined);
  });

  for (const [name, gateway, rule, at] of [
    [
      'two people with one token',
      users(`{ ${ann}, bob: { token: env:ANN, role: viewer } }`),
      'console-without-token',
      'env:ANN, role: viewer',
    ],
    ['the token of the console', users(`{ ${ann} }`, 'token: env:ANN,'), 'console-without-token', 'env:ANN, role'],
    ['the token of viewers', users(`{ ${ann} }`, 'viewer_token: env:ANN,'), 'console-without-token', 'env:ANN, role'],
    ['no one, for other machines', users('{}', 'host: 0.0.0.0,'), 'console-without-token', '0.0.0.0'],
    ['no one, with a token of viewers', users('{}', 'viewer_token: env:V,'), 'console-without-token', 'env:V'],
    ['a name with a space', users('{ "Ann B": { token: env:ANN, role: viewer } }'), 'invalid-name', '"Ann B"'],
    ['an invisible name', users('{ "\\u202e": { token: env:ANN, role: viewer } }'), 'invalid-name', '"\\u202e"'],
    ['an empty name', users('{ "": { token: env:ANN, role: viewer } }'), 'invalid-name', '""'],
    ['a name of 65 characters', users(`{ ${'a'.repeat(65)}: { token: env:A, role: viewer } }`), 'invalid-name', 'aaa'],
    ['no role', users('{ ann: { token: env:ANN } }'), 'missing-key', 'ann: {'],
    ['another role', users('{ ann: { token: env:ANN, role: admin } }'), 'invalid-value', 'admin'],
    ['an empty token', users('{ ann: { token: "", role: viewer } }'), 'invalid-value', '""'],
    ['a short token', users('{ ann: { token: short, role: viewer } }'), 'secret-short', 'short'],
    ['a wrong reference', users('{ ann: { token: "env:MY TOKEN", role: viewer } }'), 'secret-reference', '"env:MY'],
  ] as const)
    test(`${name} is ${rule}`, () => {
      const { diagnostics } = compiled(gateway);
      assert.deepEqual(
        diagnostics.map((each) => each.rule),
        [rule],
      );
      const [start = 0] = diagnostics.map(({ range }) => range.start);
      assert.ok(`gateway: ${gateway}`.slice(start).startsWith(at), `gateway: ${gateway}`.slice(start));
    });

  test('a literal token in a file that others can read is reported, without its value', () => {
    const open = printed(compiled(users('{ ann: { token: correct-horse-battery, role: viewer } }'), 0o644));
    assert.match(open, /secret-exposed/);
    assert.doesNotMatch(open, /correct-horse/);
  });
});
