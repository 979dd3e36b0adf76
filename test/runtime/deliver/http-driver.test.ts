/** Tests the driver of declarative targets through telegram and a fake of its service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDeliverer, deliveryTo } from '../../helpers/deliveries.ts';
import type { Answering, SeenRequest } from '../../helpers/fake-http.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { bindingOf, shippedTarget } from '../../helpers/targets.ts';

const OK: Answering = (_, index) => ({ body: { ok: true, result: { message_id: 7 + index } } });

function bodyOf(request: SeenRequest | undefined): Record<string, unknown> {
  return request?.json as Record<string, unknown>;
}

async function setUp(t: Parameters<typeof startFakeHttp>[0], answer: Answering, home: string | null = '-100') {
  const server = await startFakeHttp(t, answer);
  const binding = bindingOf({ token: '123:canary' }, { api_base: server.url, home_channel: home });
  const deliverer = createTestDeliverer(t, {
    targets: [shippedTarget('telegram')],
    bindings: { default: { telegram: binding }, work: {} },
  });
  return { server, deliverer };
}

test('a text is posted to the chat with the token in the URL', async (t) => {
  const { server, deliverer } = await setUp(t, OK);
  const outcome = await deliverer.deliver(deliveryTo('telegram', { extra: { chat_id: '42' } }));
  assert.deepEqual(outcome, { kind: 'ok', message_id: '7', sent: 1 });
  assert.equal(server.seen[0]?.method, 'POST');
  assert.equal(server.seen[0]?.url, '/bot123:canary/sendMessage');
  assert.deepEqual(server.seen[0]?.json, { chat_id: 42, text: 'hello', link_preview_options: { is_disabled: true } });
});

test('the home channel is used if deliver_extra has no chat, but not if its chat is empty', async (t) => {
  const { server, deliverer } = await setUp(t, OK);
  await deliverer.deliver(deliveryTo('telegram'));
  assert.equal(bodyOf(server.seen[0]).chat_id, -100);
  const outcome = await deliverer.deliver(deliveryTo('telegram', { extra: { chat_id: '' } }));
  assert.equal(outcome.kind, 'permanent');
  assert.equal(server.seen.length, 1);
});

test('message_thread_id takes precedence over thread_id and is sent as a number', async (t) => {
  const { server, deliverer } = await setUp(t, OK);
  await deliverer.deliver(deliveryTo('telegram', { extra: { thread_id: '5' } }));
  await deliverer.deliver(deliveryTo('telegram', { extra: { thread_id: '5', message_thread_id: '6' } }));
  const threads = server.seen.map((request) => bodyOf(request).message_thread_id);
  assert.deepEqual(threads, [5, 6]);
});

test('an unusable address is a permanent failure, and nothing is sent', async (t) => {
  const { server, deliverer } = await setUp(t, OK, null);
  const cases = [
    deliveryTo('telegram'),
    deliveryTo('telegram', { extra: { chat_id: '{chat.id}' }, unresolved: ['chat_id'] }),
    deliveryTo('telegram', { extra: { chat_id: '1', thread_id: '{t}' }, unresolved: ['thread_id'] }),
    deliveryTo('telegram', { extra: { chat_id: 'not a chat' } }),
    deliveryTo('telegram', { extra: { chat_id: '1', thread_id: 'abc' } }),
    deliveryTo('telegram', { extra: { chat_id: '1' }, text: ' \n ' }),
  ];
  for (const request of cases) assert.equal((await deliverer.deliver(request)).kind, 'permanent');
  assert.equal(server.seen.length, 0);
});

test('a target missing in the profile is retried, because a table may add it again', async (t) => {
  const { server, deliverer } = await setUp(t, OK, null);
  const cases = [
    deliveryTo('telegram', { extra: { chat_id: '1' }, profile: 'work' }),
    deliveryTo('telegram', { extra: { chat_id: '1' }, profile: 'unknown' }),
    deliveryTo('carrier_pigeon', { extra: { chat_id: '1' } }),
  ];
  for (const request of cases) assert.equal((await deliverer.deliver(request)).kind, 'retry');
  assert.equal(server.seen.length, 0);
});

test('a long text is sent in pieces, and a retry resumes where the last attempt stopped', async (t) => {
  const { server, deliverer } = await setUp(t, (_, index) =>
    index === 1 ? { status: 429, body: { ok: false, error_code: 429, parameters: { retry_after: 2 } } } : OK(_, index),
  );
  const text = `${'a'.repeat(4000)}\n\n${'b'.repeat(4000)}\n\n${'c'.repeat(10)}`;
  const first = await deliverer.deliver(deliveryTo('telegram', { text }));
  assert.equal(first.kind, 'retry');
  assert.equal(first.sent, 1);
  assert.equal(first.kind === 'retry' && first.retry_after_ms, 2000);
  const second = await deliverer.deliver(deliveryTo('telegram', { text, sent: first.sent, first_attempt_at: 1 }));
  assert.equal(second.kind, 'ok');
  const texts = server.seen.map((request) => bodyOf(request).text);
  assert.equal([texts[0], texts[2], ...texts.slice(3)].join(''), text);
  assert.equal(texts[1], texts[2]);
});

test('the response decides the outcome', async (t) => {
  const answers = [
    { status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized' } },
    { status: 429, headers: { 'retry-after': '3' }, body: '<html>slow down</html>' },
    { status: 400, body: { ok: false, error_code: 400, parameters: { migrate_to_chat_id: -1001 } } },
    { status: 502, body: '<html>bad gateway</html>' },
    { status: 302, headers: { location: 'https://evil.example/' }, body: '' },
    { status: 200, body: 'ok' },
    { status: 200, body: { ok: false } },
    'drop',
  ] as const;
  const { server, deliverer } = await setUp(t, (_, index) => answers[index] ?? 'drop');
  const kinds: string[] = [];
  for (const _ of answers) kinds.push((await deliverer.deliver(deliveryTo('telegram'))).kind);
  const expected = ['permanent', 'retry', 'permanent', 'ambiguous', 'permanent', 'permanent', 'permanent', 'ambiguous'];
  assert.deepEqual(kinds, expected);
  assert.equal(server.seen.length, answers.length);
});

test('an unreachable server has received nothing', async (t) => {
  const { server, deliverer } = await setUp(t, OK);
  await server.close();
  const outcome = await deliverer.deliver(deliveryTo('telegram'));
  assert.equal(outcome.kind, 'retry');
  assert.match(outcome.kind === 'retry' ? outcome.reason : '', /ECONNREFUSED/);
});

test('a missing response is ambiguous once the delivery is aborted', async (t) => {
  const { server, deliverer } = await setUp(t, () => () => {});
  const giveUp = new AbortController();
  const outcome = deliverer.deliver(deliveryTo('telegram', { signal: giveUp.signal }));
  while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  giveUp.abort();
  assert.equal((await outcome).kind, 'ambiguous');
});

test('an endless response body is cut at the limit', async (t) => {
  const { deliverer } = await setUp(t, () => (response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16384)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  assert.equal((await deliverer.deliver(deliveryTo('telegram'))).kind, 'permanent');
});

test('a dry run shows the request without the token', async (t) => {
  const { deliverer } = await setUp(t, OK);
  const shown = JSON.stringify(await deliverer.show(deliveryTo('telegram')));
  assert.match(shown, /bot\*\*\*\/sendMessage/);
  assert.doesNotMatch(shown, /canary/);
});
