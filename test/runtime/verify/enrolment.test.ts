import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Enrolments } from '../../../runtime/verify/handshake.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { routePlan } from '../../helpers/route-table.ts';

function setUp(store: (secret: string) => string = () => '/file') {
  const clock = new FakeClock();
  const stored: string[] = [];
  const enrolments = new Enrolments({
    clock,
    store: (plan, secret) => {
      stored.push(`${plan.name}: ${secret}`);
      return store(secret);
    },
  });
  const take = enrolments.capture(routePlan('r'));
  return { clock, stored, enrolments, take };
}

test('a secret is accepted only while a command waits for that route, and only the first', async () => {
  const { stored, enrolments, take } = setUp();
  assert.equal(take('early'), false);
  const waiting = enrolments.wait('default', 'r', 1000);
  assert.equal(enrolments.capture(routePlan('other'))('for another'), false);
  assert.equal(enrolments.capture(routePlan('r', { profile: 'p' }))('of another profile'), false);
  assert.equal(take('first'), true);
  assert.equal(take('second'), false);
  assert.deepEqual(await waiting, { kind: 'stored', file: '/file' });
  assert.equal(take('late'), false);
  assert.deepEqual(stored, ['r: first']);
});

test('the enrolment stays open between two polls, and closes without a further poll', async () => {
  const { clock, enrolments, take } = setUp();
  const turn = enrolments.wait('default', 'r', 1000);
  clock.advance(1000);
  assert.equal(await turn, null);
  clock.advance(4000);
  assert.equal(take('between the turns'), true);
  assert.deepEqual(await enrolments.wait('default', 'r', 1000), { kind: 'stored', file: '/file' });
  const last = enrolments.wait('default', 'r', 1000);
  clock.advance(1000);
  assert.equal(await last, null);
  clock.advance(5001);
  assert.equal(take('much later'), false);
});

test('a secret that cannot be stored is not acknowledged, and the waiting command gets the reason', async () => {
  const { enrolments, take } = setUp(() => {
    throw new Error('the disk is full');
  });
  const waiting = enrolments.wait('default', 'r', 1000);
  assert.equal(take('first'), false);
  assert.deepEqual(await waiting, { kind: 'failed', reason: 'the disk is full' });
});
