/** Tests every shipped declarative target against a fake of its service, from one table of cases. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';
import { deliveryTo } from '../../helpers/deliveries.ts';
import type { Answer } from '../../helpers/fake-http.ts';
import type { TargetCase } from '../../helpers/target-cases.ts';
import { TARGET_CASES } from '../../helpers/target-cases.ts';
import { checkRequest, startTarget } from '../../helpers/target-fake.ts';
import { shippedTargets } from '../../helpers/targets.ts';

const request = (one: TargetCase) =>
  deliveryTo(one.target, { extra: one.extra ?? {}, ...(one.text === undefined ? {} : { text: one.text }) });

/** Responses of proxies that no service sends. */
const HOSTILE: readonly (readonly [string, Answer, DeliveryOutcome['kind']])[] = [
  ['HTML on 502', { status: 502, body: '<html>Bad Gateway</html>' }, 'ambiguous'],
  ['HTML on 503', { status: 503, body: '<html>Service Unavailable</html>' }, 'retry'],
  ['HTML on 200', { status: 200, body: '<html>please log in</html>' }, 'permanent'],
  ['an empty 200', { status: 200, body: '' }, 'permanent'],
  ['JSON of another kind', { status: 200, body: '"text"' }, 'permanent'],
  ['null', { status: 200, body: 'null' }, 'permanent'],
  ['a prototype', { status: 200, body: '{"__proto__":{"ok":true,"id":"1","errcode":0,"code":0}}' }, 'permanent'],
  ['a megabyte', { status: 200, body: `[${'0,'.repeat(500_000)}0]` }, 'permanent'],
  ['deep nesting', { status: 200, body: '['.repeat(30_000) }, 'permanent'],
  ['a redirect', { status: 307, headers: { location: 'https://evil.example/' }, body: '' }, 'permanent'],
  ['a cut connection', 'drop', 'ambiguous'],
];

for (const one of TARGET_CASES) {
  describe(`${one.target}: ${one.name}`, () => {
    test('sends the expected request and reads the success', async (t) => {
      const { deliverer, sends, exchanges } = await startTarget(t, one, (index) => one.ok[index] ?? 'drop');
      for (const [index] of one.ok.entries()) {
        const outcome = await deliverer.deliver(request(one));
        assert.equal(outcome.kind, 'ok', JSON.stringify(outcome));
        if (index === 0) assert.equal(outcome.kind === 'ok' && outcome.message_id, one.messageId);
      }
      checkRequest(sends[0], one.request, one);
      if (one.exchange !== undefined) checkRequest(exchanges[0], one.exchange.request, one);
    });

    test('reads the responses of the service', async (t) => {
      const answers = [
        ...one.auth.map((answer) => ({ answer, kind: 'permanent', wait: null })),
        ...one.permanent.map((answer) => ({ answer, kind: 'permanent', wait: null })),
        ...one.rate.map(([answer, wait]) => ({ answer, kind: 'retry', wait })),
        ...(one.ambiguous ?? []).map((answer) => ({ answer, kind: 'ambiguous', wait: null })),
      ];
      const { deliverer } = await startTarget(t, one, (index) => answers[index]?.answer ?? 'drop');
      for (const { answer, kind, wait } of answers) {
        const outcome = await deliverer.deliver(request(one));
        const said = `${JSON.stringify(answer)} became ${JSON.stringify(outcome)}`;
        assert.equal(outcome.kind, kind, said);
        assert.equal(outcome.kind === 'ok' ? null : outcome.retry_after_ms, wait, said);
        assert.equal(outcome.kind !== 'ok' && outcome.idempotent, one.idempotent, said);
      }
    });

    test('handles responses of proxies', async (t) => {
      const { deliverer, sends } = await startTarget(t, one, (index) => HOSTILE[index]?.[1] ?? 'drop');
      for (const [name, , kind] of HOSTILE) {
        const isList = one.target === 'homeassistant' && name === 'a megabyte';
        const outcome = await deliverer.deliver(request(one));
        assert.equal(outcome.kind, isList ? 'permanent' : kind, `${name}: ${JSON.stringify(outcome)}`);
      }
      assert.equal(sends.length, HOSTILE.length, 'nothing was repeated or followed');
    });

    if (one.exchange !== undefined) exchangeTests(one, one.exchange);
  });
}

function exchangeTests(one: TargetCase, exchange: NonNullable<TargetCase['exchange']>): void {
  test('one token serves many concurrent and later deliveries, until shortly before it expires', async (t) => {
    const { deliverer, exchanges, clock } = await startTarget(t, one, () => one.ok[0] ?? 'drop');
    await Promise.all(Array.from({ length: 5 }, () => deliverer.deliver(request(one))));
    clock.advance(6900_000);
    await deliverer.deliver(request(one));
    assert.equal(exchanges.length, 1);
    clock.advance(299_000);
    await deliverer.deliver(request(one));
    assert.equal(exchanges.length, 2);
  });

  test('a rejected token is exchanged again once, and the second rejection is permanent', async (t) => {
    for (const expired of exchange.expired) {
      const answers = [expired, one.ok[0], expired, expired];
      const { deliverer, exchanges, sends } = await startTarget(t, one, (index) => answers[index] ?? 'drop');
      assert.equal((await deliverer.deliver(request(one))).kind, 'ok');
      assert.equal(exchanges.length, 2);
      assert.equal((await deliverer.deliver(request(one))).kind, 'permanent');
      assert.equal(exchanges.length, 3);
      assert.equal(sends.length, 4);
    }
  });

  test('without a token nothing is sent', async (t) => {
    const answers: Answer[] = [exchange.refused, { status: 503, body: '<html>' }, 'drop', { body: '<html>' }];
    const { deliverer, sends } = await startTarget(
      t,
      one,
      () => 'drop',
      (index) => answers[index] ?? 'drop',
    );
    const kinds: string[] = [];
    for (const _ of answers) kinds.push((await deliverer.deliver(request(one))).kind);
    assert.deepEqual(kinds, ['permanent', 'retry', 'retry', 'permanent']);
    assert.equal(sends.length, 0);
  });
}

test('every variant of every declarative target has a case', () => {
  // Code hosts are tested in github.test.ts and gitlab.test.ts, because they remember posts; http in http-endpoint.test.ts,
  // because it depends on the configuration. The reactions of Slack, which sends several requests, are in progress.test.ts.
  const others = /^(http$|git(hub|lab)_|slack_reaction$)/;
  const plans = Object.values(shippedTargets()).filter(({ name }) => !others.test(name));
  const declared = plans.flatMap(({ name, variants }) => variants.map((variant) => `${name} ${variant.name}`));
  const covered = new Set(TARGET_CASES.map((one) => `${one.target} ${one.variant}`));
  assert.deepEqual([...covered].sort(), declared.sort());
});
