/** Tests time in deliveries with a fake clock: the pace of a service, and the timeout of a request. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import type { PaceRule } from '../../../runtime/deliver/pace.ts';
import { createPace } from '../../../runtime/deliver/pace.ts';
import { createTestDeliverer, deliveryTo } from '../../helpers/deliveries.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { bindingOf, lowerTargetFile } from '../../helpers/targets.ts';

const never = new AbortController().signal;
const rule = (key: string, messages: number, period_ms: number): PaceRule => ({
  key,
  plan: { per: 'chat', messages, period_ms },
});

describe('the pace', () => {
  test('sends as many messages as the service accepts, and delays the next ones', async () => {
    const clock = new FakeClock();
    const pace = createPace({ clock, longestHoldMs: 5000 });
    const gone: number[] = [];
    for (let index = 0; index < 5; index++) {
      void pace.take([rule('a', 2, 1000)], never).then(() => gone.push(index));
    }
    await settle();
    assert.deepEqual(gone, [0, 1]);
    await clock.run(1000);
    assert.deepEqual(gone, [0, 1, 2, 3]);
    await clock.run(1000);
    assert.deepEqual(gone, [0, 1, 2, 3, 4]);
  });

  test('returns a message with a long wait to the queue, without reserving a slot', async () => {
    const clock = new FakeClock();
    const pace = createPace({ clock, longestHoldMs: 500 });
    assert.deepEqual(await pace.take([rule('a', 1, 60_000)], never), { kind: 'go' });
    assert.deepEqual(await pace.take([rule('a', 1, 60_000)], never), { kind: 'later', wait_ms: 60_000 });
    clock.advance(59_800);
    const slot = pace.take([rule('a', 1, 60_000)], never);
    await clock.run(200);
    assert.deepEqual(await slot, { kind: 'go' });
  });

  test('counts chats separately, and the strictest of several rules applies', async () => {
    const pace = createPace({ clock: new FakeClock(), longestHoldMs: 0 });
    const both = (chat: string): PaceRule[] => [rule(chat, 1, 1000), rule('all', 2, 10_000)];
    assert.equal((await pace.take(both('a'), never)).kind, 'go');
    assert.deepEqual(await pace.take(both('a'), never), { kind: 'later', wait_ms: 1000 });
    assert.equal((await pace.take(both('b'), never)).kind, 'go');
    assert.deepEqual(await pace.take(both('c'), never), { kind: 'later', wait_ms: 10_000 });
  });

  test('ends immediately if the delivery is aborted', async () => {
    const pace = createPace({ clock: new FakeClock(), longestHoldMs: 5000 });
    await pace.take([rule('a', 1, 1000)], never);
    const giveUp = new AbortController();
    const slot = pace.take([rule('a', 1, 1000)], giveUp.signal);
    giveUp.abort();
    assert.equal((await slot).kind, 'go');
  });
});

describe('a delivery in time', () => {
  const plan = lowerTargetFile('slow', {
    title: 'Slow',
    base: 'http://127.0.0.1',
    settings: { token: { help: 'x' } },
    request: { path: '/send', headers: { authorization: '{exchanged_token?}' }, json: { text: '{text}' } },
    timeout_seconds: 3,
    exchange: { request: { path: '/token' }, token: 'token' },
  });

  test('a service that never responds is ambiguous after the timeout', async (t) => {
    const clock = new FakeClock();
    const server = await startFakeHttp(t, ({ path }) => (path === '/token' ? { body: { token: 't' } } : () => {}));
    const bindings = { default: { slow: bindingOf({}, { api_base: server.url }) } };
    const deliverer = createTestDeliverer(t, { targets: [plan], bindings, clock });
    const outcome = deliverer.deliver(deliveryTo('slow'));
    while (server.seen.length < 2) await settle(1);
    clock.advance(2999);
    clock.advance(1);
    const result = await outcome;
    assert.equal(result.kind, 'ambiguous');
    assert.match((result.kind === 'ambiguous' && result.reason) || '', /\bTIMEOUT\b/);
  });

  test('an aborted delivery does not wait for the token, which the others still get', async (t) => {
    const waiting: ServerResponse[] = [];
    const server = await startFakeHttp(t, ({ path }) =>
      path === '/token' ? (response) => void waiting.push(response) : { body: {} },
    );
    const bindings = { default: { slow: bindingOf({}, { api_base: server.url }) } };
    const deliverer = createTestDeliverer(t, { targets: [plan], bindings, clock: new FakeClock() });
    const giveUp = new AbortController();
    const first = deliverer.deliver(deliveryTo('slow', { signal: giveUp.signal }));
    const second = deliverer.deliver(deliveryTo('slow', { key: 'd2:0' }));
    while (server.seen.length < 1) await settle(1);
    giveUp.abort();
    assert.deepEqual([(await first).kind, server.seen.length], ['retry', 1]);
    waiting[0]?.end('{"token":"t"}');
    assert.equal((await second).kind, 'ok');
  });
});

test('a text in pieces keeps the pace of the public service, and a long wait returns it to the queue', async (t) => {
  const clock = new FakeClock();
  const server = await startFakeHttp(t, () => ({ body: {} }));
  const paced = lowerTargetFile('paced', {
    title: 'Paced',
    base: server.url,
    request: { path: '/', json: { text: '{text}' } },
    text: { limit: 20 },
    pacing: [{ per: 'credentials', messages: 2, seconds: 10 }],
  });
  const bindings = { default: { paced: bindingOf({}) }, own: { paced: bindingOf({}, { api_base: server.url }) } };
  const deliverer = createTestDeliverer(t, { targets: [paced], bindings, clock });
  const text = 'x'.repeat(60);
  assert.deepEqual(await deliverer.deliver(deliveryTo('paced', { text })), {
    kind: 'retry',
    reason: "held back to keep within the target's limits",
    retry_after_ms: 10_000,
    idempotent: false,
    attempted: false,
    sent: 2,
  });
  const elsewhere = await deliverer.deliver(deliveryTo('paced', { text, profile: 'own' }));
  assert.deepEqual([elsewhere.kind, elsewhere.sent], ['ok', 3]);
});
