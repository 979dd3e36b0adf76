/** Tests linking: a delivery uses only its own profile's credentials, and an unusable binding is reported at the start. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { createRedact } from '../../../runtime/deliver/redact.ts';
import type { TargetBinding } from '../../../schemas/generated/types.ts';
import { createTestDeliverer, deliveryTo } from '../../helpers/deliveries.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { bindingOf, lowerTargetFile, shippedTarget } from '../../helpers/targets.ts';

const TELEGRAM = shippedTarget('telegram');
const env = (name: string): TargetBinding['credentials'] => ({ token: { kind: 'env', value: name, scope: 'default' } });

test('each profile delivers with its own credentials and to its own home channel', async (t) => {
  const server = await startFakeHttp(t, () => ({ body: { ok: true, result: { message_id: 1 } } }));
  const bound = (token: string, home_channel: string) => bindingOf({ token }, { api_base: server.url, home_channel });
  const bindings = {
    default: { telegram: bound('1:one', '100') },
    work: { telegram: bound('2:two', '200') },
    bare: {},
  };
  const deliverer = createTestDeliverer(t, { targets: [TELEGRAM], bindings });
  for (const profile of ['default', 'work']) await deliverer.deliver(deliveryTo('telegram', { profile }));
  const sent = server.seen.map(({ path, json }) => [path, (json as { chat_id: number }).chat_id]);
  assert.deepEqual(sent, [
    ['/bot1:one/sendMessage', 100],
    ['/bot2:two/sendMessage', 200],
  ]);
  const refused = await deliverer.deliver(deliveryTo('telegram', { profile: 'bare', extra: { chat_id: '1' } }));
  assert.equal(refused.kind, 'retry', 'a later table may enable it');
  assert.match(refused.kind === 'retry' ? refused.reason : '', /\bbare\b/);
});

test('`api_base` replaces the origin of a URL from a setting, and keeps its path', async (t) => {
  const server = await startFakeHttp(t, () => ({ body: 'ok' }));
  const TARGETS = { slack: 'webhook', discord: 'webhook_url', mattermost: 'webhook' };
  for (const [name, variant] of Object.entries(TARGETS)) {
    const settings = { webhook_url: 'https://hooks.example.org/services/T/B/canary?a=1' };
    const bindings = { default: { [name]: bindingOf(settings, { variant, api_base: `${server.url}/proxy/` }) } };
    const deliverer = createTestDeliverer(t, { targets: [shippedTarget(name)], bindings });
    await deliverer.deliver(deliveryTo(name, { extra: {} }));
    assert.match(server.seen.at(-1)?.path ?? '', /^\/proxy\/services\/T\/B\/canary/, name);
    assert.equal(server.seen.at(-1)?.query.get('a'), '1', name);
    assert.ok(!JSON.stringify(deliverer.log).includes('canary'));
  }
});

test('log and local need no binding', async (t) => {
  const deliverer = createTestDeliverer(t, {
    targets: [shippedTarget('log'), shippedTarget('local')],
    bindings: { default: {} },
  });
  assert.equal((await deliverer.deliver(deliveryTo('log'))).kind, 'ok');
  assert.equal((await deliverer.deliver(deliveryTo('local'))).kind, 'ok');
  assert.deepEqual(
    deliverer.log.map(({ fields }) => fields.text),
    ['hello'],
  );
});

test('an unusable binding is a problem that names the setting, and does not affect others', (t) => {
  const CASES: readonly (readonly [string, TargetBinding, RegExp])[] = [
    ['a missing secret', bindingOf({}, { credentials: env('NOPE') }), /^token: env:NOPE\b/],
    ['a required setting', bindingOf({}), /^token\b/],
    ['a line break', bindingOf({ token: 'canary\nX-Evil: 1' }), /^token\b/],
    ['a base without encryption', bindingOf({ token: 'canary' }, { api_base: 'http://far.example' }), /^/],
    ['a base that is none', bindingOf({ token: 'canary' }, { api_base: 'nonsense' }), /^/],
    ['an unknown variant', bindingOf({ token: 'canary' }, { variant: 'other' }), /"other"/],
  ];
  const profiles = Object.fromEntries(CASES.map(([name, binding]) => [name, { telegram: binding }]));
  const good = { default: { telegram: bindingOf({ token: 'canary' }) } };
  const deliverer = createTestDeliverer(t, { targets: [TELEGRAM], bindings: { ...profiles, ...good } });
  assert.deepEqual(
    deliverer.problems.map(({ profile }) => profile),
    CASES.map(([name]) => name),
  );
  for (const [index, [name, , expected]] of CASES.entries())
    assert.match(deliverer.problems[index]?.message ?? '', expected, name);
  assert.doesNotMatch(JSON.stringify(deliverer.problems), /canary/);
});

test('home channel and base URL may be references, and a hidden base URL stays hidden', async (t) => {
  const server = await startFakeHttp(t, () => ({ body: { ok: true, result: { message_id: 1 } } }));
  const refs = {
    home_channel: { kind: 'env', value: 'CHAT', scope: 'x' },
    api_base: { kind: 'env', value: 'BASE', scope: 'x' },
  } as const;
  const binding = bindingOf({}, { credentials: { ...env('TOKEN'), ...refs } });
  const deliverer = createTestDeliverer(t, {
    targets: [TELEGRAM],
    bindings: { default: { telegram: binding } },
    env: { TOKEN: '1:canary\n', CHAT: '-7', BASE: `${server.url}/canary-path/` },
  });
  assert.deepEqual(deliverer.problems, []);
  assert.equal((await deliverer.deliver(deliveryTo('telegram'))).kind, 'ok');
  assert.equal(server.seen[0]?.path, '/canary-path/bot1:canary/sendMessage');
  assert.doesNotMatch(JSON.stringify(await deliverer.show(deliveryTo('telegram'))), /canary/);
});

test('running deliveries keep the old targets after a swap', async (t) => {
  const waiting: ServerResponse[] = [];
  const server = await startFakeHttp(t, () => (response) => void waiting.push(response));
  const bindings = {
    default: { telegram: bindingOf({ token: '1:x' }, { api_base: server.url, home_channel: '1' }) },
  };
  const deliverer = createTestDeliverer(t, { targets: [TELEGRAM], bindings });
  const underWay = deliverer.deliver(deliveryTo('telegram'));
  while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  deliverer.use(new Map());
  assert.equal((await deliverer.deliver(deliveryTo('telegram'))).kind, 'retry');
  waiting[0]?.end('{"ok":true,"result":{"message_id":1}}');
  assert.equal((await underWay).kind, 'ok');
});

test('an error of a driver becomes an outcome and a log line without its message', async (t) => {
  const broken = lowerTargetFile('broken', { title: 'B', base: 'https://b.example', request: { path: '/' } });
  const deliverer = createTestDeliverer(t, { targets: [broken], bindings: { default: { broken: bindingOf({}) } } });
  const extra = new Proxy(
    {},
    {
      getOwnPropertyDescriptor: () => {
        throw new TypeError('canary');
      },
    },
  );
  const outcome = await deliverer.deliver(deliveryTo('broken', { extra }));
  assert.equal(outcome.kind, 'ambiguous');
  assert.equal(deliverer.log[0]?.fields.error, 'TypeError');
  assert.doesNotMatch(JSON.stringify(deliverer.log), /canary/);
});

test('redaction hides a secret in every form of a request', () => {
  const redact = createRedact(['p@ss "word"/é', 'https://hooks.example/services/T123/B456/abcdefghijkl', 'xy']);
  const secret = 'p@ss "word"/é';
  for (const form of [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret),
    Buffer.from(secret).toString('base64'),
    'abcdefghijkl',
  ]) {
    assert.match(redact(`before ${form} after`), /^before "?\*\*\*"? after$/);
  }
  assert.equal(redact('services xy'), 'services xy');
});
