/** Tests `platforms.http`: the requests that the user's own service receives, and the errors of `lint`. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import { linkWebhook } from '../../../runtime/deliver/http/link-variant.ts';
import { NO_VALUES } from '../../../runtime/deliver/http/values.ts';
import { deliveryTo } from '../../helpers/deliveries.ts';
import type { Answering } from '../../helpers/fake-http.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { goldenTexts } from '../../helpers/golden-texts.ts';
import { deliverHttp, httpTable, lintHttp } from '../../helpers/http-target.ts';
import { vectors } from '../../helpers/vectors.ts';

const printed = goldenTexts('runtime/deliver/http-endpoint.txt');

const SECRET = 'whsec_Wm3xT0q7cJv5LrYb2nKd8Fh1sZgE4uPa';
const HERE = { allow_http: true, allow_private: true };

async function setUp(t: Parameters<typeof startFakeHttp>[0], path: string, more: object = {}, answer?: Answering) {
  const server = await startFakeHttp(t, answer ?? (() => ({ status: 204 })));
  const deliverer = deliverHttp(
    t,
    { url: `${server.url}${path}`, ...HERE, ...more },
    { env: { AUTH: 'Bearer canary' } },
  );
  return { server, deliverer };
}

describe('signature', () => {
  const published = vectors.filter(({ scheme, valid, headers }) => {
    return scheme === 'standard-webhooks' && valid && /^v1,\S+$/.test(headers['webhook-signature'] ?? '');
  });
  for (const { description, secret, headers, body } of published) {
    test(description, () => {
      const sign = linkWebhook(new Map([['secret', secret]]));
      assert.ok(typeof sign !== 'string');
      const values = { ...NO_VALUES, key: headers['webhook-id'] ?? '', timestamp: headers['webhook-timestamp'] ?? '' };
      assert.deepEqual(sign(body, values), { ...headers, 'idempotency-key': values.key });
    });
  }
  test('has published vectors', () => assert.ok(published.length > 0));

  test('covers the sent bytes exactly', async (t) => {
    const { server, deliverer } = await setUp(t, '/x', { secret: SECRET, body: 'Ünïcode: {text}' });
    assert.equal((await deliverer.deliver(deliveryTo('http', { text: 'é\u{1F600}\n"' }))).kind, 'ok');
    const [seen] = server.seen;
    const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
    const message = `${String(seen?.headers['webhook-id'])}.${String(seen?.headers['webhook-timestamp'])}.${seen?.body ?? ''}`;
    assert.equal(
      seen?.headers['webhook-signature'],
      `v1,${createHmac('sha256', key).update(message).digest('base64')}`,
    );
    assert.equal(seen?.body, 'Ünïcode: é\u{1F600}\n"');
  });

  test('is absent without a secret, and an empty reference is a problem of the target', async (t) => {
    const { server, deliverer } = await setUp(t, '/x');
    await deliverer.deliver(deliveryTo('http'));
    assert.equal(server.seen[0]?.headers['webhook-signature'], undefined);
    const more = { url: 'https://example.com', secret: 'env:S' };
    for (const S of ['whsec_not base64', 'dG9vIHNob3J0', 'correct horse battery staple']) {
      const { problems } = deliverHttp(t, more, { env: { S } });
      assert.match(problems[0]?.message ?? '', /\bsecret\b.*`whsec_`/, S);
      assert.ok(!problems[0]?.message.includes(S));
    }
  });
});

test('a repeat has the same id, another delivery a different one, and an ambiguous attempt is repeated', async (t) => {
  const { server, deliverer } = await setUp(t, '/x', { body: 'cloudevents' }, (_, index) =>
    index === 0 ? 'drop' : { status: index === 1 ? 520 : 200 },
  );
  const first = await deliverer.deliver(deliveryTo('http', { key: 'a:0' }));
  assert.equal(first.kind === 'ambiguous' && first.idempotent, true);
  const at = Date.now() - 60_000;
  const again = { key: 'a:0', first_attempt_at: at };
  assert.equal((await deliverer.deliver(deliveryTo('http', again))).kind, 'ambiguous');
  assert.equal((await deliverer.deliver(deliveryTo('http', again))).kind, 'ok');
  assert.equal((await deliverer.deliver(deliveryTo('http', { key: 'b:0' }))).kind, 'ok');
  const ids = server.seen.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids.slice(0, 3)).size, 1);
  assert.notEqual(ids[3], ids[0]);
  // The receiver of a CloudEvent drops repeats by id, and sees the time of the event.
  assert.deepEqual(server.seen[2]?.json, {
    ...{ specversion: '1.0', id: ids[0], source: '/hookwright/builds', type: 'hookwright.delivery' },
    ...{ time: new Date(at).toISOString(), datacontenttype: 'application/json' },
    data: { text: 'hello', route: 'builds', delivery_id: 'evt-1' },
  });
  assert.equal(server.seen[2]?.headers['content-type'], 'application/cloudevents+json');
});

test('an address is checked before there is a text, whatever run values the request uses', async (t) => {
  for (const more of [{}, { body: 'cloudevents' }, { body: '{text} {route} {delivery_id}' }, { secret: SECRET }]) {
    const { deliverer } = await setUp(t, '/x?r={route}&d={delivery_id}', more);
    assert.equal(deliverer.refusal('default', { target: 'http', extra: {}, unresolved: [] }), null);
  }
  const { deliverer } = await setUp(t, '/x/{number}');
  assert.match(`${deliverer.refusal('default', { target: 'http', extra: {}, unresolved: [] })}`, /number/);
});

test('a 5xx, a timeout of the service and 429 are retried, redirects are never followed, other rejections are permanent', async (t) => {
  const { server, deliverer } = await setUp(t, '/x', {}, (request, index) => {
    const status = [500, 503, 599, 429, 302, 307, 400, 410][index] ?? 200;
    return { status, headers: { location: `${request.headers.host}/elsewhere` } };
  });
  const kinds: string[] = [];
  for (let index = 0; index < 8; index++) kinds.push((await deliverer.deliver(deliveryTo('http'))).kind);
  const [again, never] = ['ambiguous', 'permanent'];
  assert.deepEqual(kinds, [again, 'retry', again, 'retry', never, never, never, never]);
  assert.equal(server.seen.length, 8);
});

describe('body', () => {
  const cases: Readonly<Record<string, readonly [body: unknown, type: string, sent: string]>> = {
    'nothing said': [
      undefined,
      'application/json; charset=utf-8',
      '{"text":"a\\"b","route":"builds","delivery_id":"evt-1"}',
    ],
    'an object': [
      { summary: 'It says: {text}', n: 3, deep: [{ id: '{delivery_id}' }, null, true], '{text}': 'x' },
      'application/json; charset=utf-8',
      '{"summary":"It says: a\\"b","n":3,"deep":[{"id":"evt-1"},null,true],"{text}":"x"}',
    ],
    'JSON in a text': [
      '{"summary": "{text}", "$int": "7"}',
      'application/json; charset=utf-8',
      '{"summary":"a\\"b","$int":"7"}',
    ],
    'a text': ['{route}: {text} {} {1}', 'text/plain; charset=utf-8', 'builds: a"b {} {1}'],
    'a field of the URL': [{ number: '{number}' }, 'application/json; charset=utf-8', '{"number":"7"}'],
  };
  for (const [name, [body, type, sent]] of Object.entries(cases)) {
    test(name, async (t) => {
      const { server, deliverer } = await setUp(t, '/{number}', body === undefined ? {} : { body });
      await deliverer.deliver(deliveryTo('http', { text: 'a"b', extra: { number: '7' } }));
      assert.deepEqual([server.seen[0]?.headers['content-type'], server.seen[0]?.body], [type, sent]);
    });
  }
});

test('method, headers and trace; a dry run shows no secret', async (t) => {
  const headers = { authorization: 'env:AUTH', 'X-Tenant': 'acme', 'content-type': 'text/markdown' };
  const { server, deliverer } = await setUp(t, '/x', { method: 'PUT', headers, body: '{text}', secret: SECRET });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await deliverer.deliver(deliveryTo('http', { traceparent, tracestate: 'v=1' }));
  const [seen] = server.seen;
  const sent: Record<string, unknown> = { method: seen?.method, ...seen?.headers };
  assert.equal(sent.method, 'PUT');
  assert.equal(sent.authorization, 'Bearer canary');
  assert.equal(sent['x-tenant'], 'acme');
  assert.equal(sent['content-type'], 'text/markdown');
  assert.equal(sent.traceparent, traceparent);
  assert.equal(sent.tracestate, 'v=1');
  const shown = JSON.stringify(await deliverer.show(deliveryTo('http')));
  assert.match(shown, /"webhook-signature":"\*\*\*"/);
  assert.ok(!shown.includes('canary') && !shown.includes(SECRET.slice(6)));
});

describe('placeholders of the URL', () => {
  const path = '/r/{number}/of/{repository.full_name}?q={q}&r={route}';
  const extra = { number: '7', 'repository.full_name': 'a/b', q: 'x' };
  const cases: Readonly<Record<string, readonly [extra: Record<string, string>, sent: string | null]>> = {
    plain: [{}, '/r/7/of/a%2Fb?q=x&r=builds'],
    'a path in a value': [{ number: '../../admin' }, '/r/..%2F..%2Fadmin/of/a%2Fb?q=x&r=builds'],
    'an encoded path': [{ number: '%2e%2e%2fadmin' }, '/r/%252e%252e%252fadmin/of/a%2Fb?q=x&r=builds'],
    'a query': [{ number: '7?admin=1&x' }, '/r/7%3Fadmin%3D1%26x/of/a%2Fb?q=x&r=builds'],
    'a parameter': [{ q: 'x&admin=1#y' }, '/r/7/of/a%2Fb?q=x%26admin%3D1%23y&r=builds'],
    'a fragment': [{ number: '7#' }, '/r/7%23/of/a%2Fb?q=x&r=builds'],
    'a backslash': [{ number: '\\evil' }, '/r/%5Cevil/of/a%2Fb?q=x&r=builds'],
    'another host': [{ number: '@evil.example' }, '/r/%40evil.example/of/a%2Fb?q=x&r=builds'],
    'another scheme': [{ number: '//evil.example/' }, '/r/%2F%2Fevil.example%2F/of/a%2Fb?q=x&r=builds'],
    'a matrix parameter': [{ number: ';admin=1' }, '/r/%3Badmin%3D1/of/a%2Fb?q=x&r=builds'],
    'another placeholder': [{ number: '{q}' }, '/r/%7Bq%7D/of/a%2Fb?q=x&r=builds'],
    umlauts: [{ number: 'ä\u{1F600}' }, '/r/%C3%A4%F0%9F%98%80/of/a%2Fb?q=x&r=builds'],
    'the parent folder': [{ number: '..' }, null],
    'the same folder': [{ number: '.' }, null],
    'the parent folder in a query': [{ q: '..' }, null],
    nothing: [{ number: '' }, null],
    'a line break': [{ number: '7\r\nx-admin: 1' }, null],
    'a zero byte': [{ number: '7\0' }, null],
    'half a character': [{ number: '\ud83d' }, null],
    'a very long value': [{ number: 'x'.repeat(2000) }, null],
  };
  for (const [name, [own, sent]] of Object.entries(cases)) {
    test(name, async (t) => {
      const { server, deliverer } = await setUp(t, path);
      const outcome = await deliverer.deliver(deliveryTo('http', { extra: { ...extra, ...own } }));
      assert.equal(outcome.kind, sent === null ? 'permanent' : 'ok');
      assert.equal(server.seen[0]?.url, sent ?? undefined);
    });
  }

  test('are read from the payload if the route does not set them', () => {
    const { routes } = httpTable({ url: 'https://example.com/{repository.full_name}/{route}' });
    assert.deepEqual(routes.builds?.deliver, [
      {
        target: 'http',
        extra: {
          'repository.full_name': [
            { kind: 'path', path: ['repository', 'full_name'], text: '{repository.full_name}', builtin: null },
          ],
        },
      },
    ]);
  });
});

test('each profile has its own service and secrets', () => {
  const { targets, profiles } = httpTable({ url: 'https://example.com/{a}', headers: { 'x-key': 'env:K' } });
  assert.equal(profiles.default?.targets.http?.variant, 'default');
  assert.deepEqual(
    targets.http?.variants.map(({ name }) => name),
    ['default'],
  );
  assert.deepEqual(targets.http?.address, [{ name: 'a', required: false, pattern: '(?s).+' }]);
});

describe('lint', () => {
  const url = 'https://example.com/';
  const cases: readonly object[] = [
    { url: 'http://example.com/' },
    { url: 'http://127.0.0.1/', allow_private: true },
    { url: 'https://10.0.0.1/' },
    { url: 'https://{host}/' },
    { url: 'https://example.com{port}/' },
    { url: 'https://example.com:{port}/' },
    { url: 'https://{user}@example.com/' },
    { url: '{url}' },
    { url: 'env:RESULTS_URL' },
    { url: 'ftp://example.com/' },
    { url: 'https://example.com/#{a}' },
    { url: 'https://example.com/{text}' },
    { url: 'https://example.com/{a b}' },
    { url: 'https://u:hunter2@example.com/' },
    { url: 'https://example.com/?api_key=hunter2' },
    { url: 'https://example.com/?sig=hunter2' },
    { url, headers: { host: 'evil.example' } },
    { url, headers: { 'Webhook-ID': 'x' } },
    { url, headers: { traceparent: 'x' } },
    { url, headers: { 'x y': 'x' } },
    { url, headers: { 'x-a': '1', 'X-A': '2' } },
    { url, headers: { 'x-a': '{number}' } },
    { url, body: '{"summary": {text}}' },
    { url, body: 'x{text}', headers: { 'content-type': 'application/json' } },
    { url, body: { a: ['{txt}'] } },
    { url, secret: 'hunter2' },
    {},
    { url, home_channel: 'x' },
    { url, method: 'GET' },
  ];
  for (const http of cases) {
    test(JSON.stringify(http), () => {
      const said = lintHttp(http);
      printed(JSON.stringify(http), said.match(/^hookwright\.yaml:.*/gm)?.join('\n') ?? 'nothing');
      assert.ok(!said.includes('hunter2'));
    });
  }
});
