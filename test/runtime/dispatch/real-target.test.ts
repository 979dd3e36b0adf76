/** The delivery loop with real targets and a misbehaving server: which attempts are repeated, and when. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import type { TargetBinding } from '../../../schemas/generated/types.ts';
import { createTestDeliverer } from '../../helpers/deliveries.ts';
import { claimOf, dispatchBench, storedIn } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import type { Answering } from '../../helpers/fake-http.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { bindingOf, shippedTarget } from '../../helpers/targets.ts';

interface Target {
  readonly name: 'telegram' | 'matrix';
  readonly secrets: Readonly<Record<string, string>>;
  readonly chat_id: string;
  readonly ok: Answering;
}

/** Has no idempotency key. */
const PLAIN: Target = {
  name: 'telegram',
  secrets: { token: '123:canary' },
  chat_id: '42',
  ok: (_, index) => ({ body: { ok: true, result: { message_id: index } } }),
};

/** Drops a repeat by the key in the path. */
const KEYED: Target = {
  name: 'matrix',
  secrets: { access_token: 'canary' },
  chat_id: '!room:example.org',
  ok: (_, index) => ({ body: { event_id: `$${index}` } }),
};

async function setUp(
  t: TestContext,
  target: Target,
  faults: readonly Answering[],
  binding: Partial<TargetBinding> = {},
) {
  const server = await startFakeHttp(t, (request, index) => (faults[index] ?? target.ok)(request, index));
  const clock = new FakeClock();
  const bound = { ...bindingOf({ ...target.secrets }, { api_base: server.url }), ...binding };
  const deliverer = createTestDeliverer(t, {
    clock,
    targets: [shippedTarget(target.name)],
    bindings: { default: { [target.name]: bound } },
  });
  const bench = dispatchBench({ clock, context: { deliverer, policy: () => bound } });
  const delivery = { target: target.name, extra: { chat_id: target.chat_id }, unresolved: [] };
  await bench.service.accept(makeDispatch('a', { deliveries: [delivery] }), claimOf('1'), null);
  /** Waits in real time until `attempts` were made and recorded. */
  const made = (attempts: number): Promise<true> =>
    until(async () => storedIn(bench.store, 'a')?.steps.length === attempts);
  return { ...bench, clock, server, made, stored: () => storedIn(bench.store, 'a') };
}

describe('a target that reads the request and then drops the connection', () => {
  it('is not retried with at_most_once when it cannot recognise a repeat', async (t) => {
    const { made, stored, server, clock } = await setUp(t, PLAIN, [() => 'drop'], { at_most_once: true });
    await made(1);
    await clock.run(3_600_000);
    assert.equal(stored()?.state, 'dead');
    assert.match(stored()?.reason ?? '', /^telegram: /);
    assert.equal(server.seen.length, 1);
  });

  it('is retried although the message may appear twice', async (t) => {
    const { made, stored, server, clock } = await setUp(t, PLAIN, [() => 'drop']);
    await made(1);
    clock.advance(2000);
    await made(2);
    assert.deepEqual([stored()?.state, server.seen.length], ['done', 2]);
  });

  it('is retried with the same key when it drops repeats by it', async (t) => {
    const { made, stored, server, clock } = await setUp(t, KEYED, [() => 'drop', () => ({ status: 502 })]);
    await made(1);
    clock.advance(2000);
    await made(2);
    clock.advance(8000);
    await made(3);
    assert.equal(stored()?.state, 'done');
    assert.equal(new Set(server.seen.map(({ path }) => path)).size, 1);
  });
});

describe('a target that answers 429', () => {
  const inFortySeconds = (): string => new Date(Date.UTC(2026, 0, 1) + 40_000).toUTCString();
  const forms: readonly [string, Target, Answering, number, number][] = [
    [
      'seconds in the header',
      KEYED,
      () => ({ status: 429, headers: { 'retry-after': '40' }, body: {} }),
      40_000,
      48_000,
    ],
    [
      'a date in the header',
      KEYED,
      () => ({ status: 429, headers: { 'retry-after': inFortySeconds() }, body: {} }),
      38_000,
      48_000,
    ],
    [
      'milliseconds in the body',
      KEYED,
      () => ({ status: 429, body: { errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 40_000 } }),
      40_000,
      48_000,
    ],
    [
      'seconds in the body',
      PLAIN,
      () => ({ status: 429, body: { ok: false, error_code: 429, parameters: { retry_after: 40 } } }),
      40_000,
      48_000,
    ],
    ['less than the usual wait', KEYED, () => ({ status: 429, headers: { 'retry-after': '1' }, body: {} }), 1600, 2400],
    ['a week', KEYED, () => ({ status: 429, headers: { 'retry-after': '604800' }, body: {} }), 3_600_000, 4_320_000],
    ['no wait at all', KEYED, () => ({ status: 429, body: 'slow down' }), 1600, 2400],
    [
      'a wait that is not a number',
      KEYED,
      () => ({ status: 429, headers: { 'retry-after': 'soon' }, body: {} }),
      1600,
      2400,
    ],
  ];
  for (const [what, target, answer, least, most] of forms) {
    it(`is retried after ${what}`, async (t) => {
      const { made, stored, clock } = await setUp(t, target, [answer]);
      await made(1);
      const [step] = stored()?.steps ?? [];
      const wait = (step?.next_at ?? 0) - (step?.at ?? 0);
      assert.equal(step?.outcome, 'retry');
      assert.ok(wait >= least && wait <= most, `${wait} ms`);
      clock.advance(wait);
      await made(2);
      await settle();
      assert.equal(stored()?.state, 'done');
    });
  }
});
