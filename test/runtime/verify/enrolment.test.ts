import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SecretError } from '../../../runtime/platform/secrets.ts';
import { captureStore, Enrolments } from '../../../runtime/verify/handshake.ts';
import type { SignedRequest } from '../../../runtime/verify/request.ts';
import { LazyRequest, partsOf } from '../../../runtime/verify/request.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { routePlan } from '../../helpers/route-table.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const KEY = 'k'.repeat(32);
const ROUTE = { profile: 'default', route: 'r', key: KEY };
const fingerprint = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 16);

function at(path: string, client = '192.0.2.1'): SignedRequest {
  return Object.assign(new LazyRequest(partsOf('POST', path, [], Buffer.alloc(0))), { client: () => client });
}

function setUp(store: (secret: string) => string = () => '/file') {
  const clock = new FakeClock();
  const stored: string[] = [];
  const enrolments = new Enrolments({
    clock,
    store: async (plan, secret) => {
      stored.push(`${plan.name}: ${secret}`);
      return store(secret);
    },
  });
  const capture = enrolments.capture(routePlan('r'));
  const take = (secret: string, path = `/webhooks/r/${KEY}`): boolean => capture(secret, at(path));
  return { clock, stored, enrolments, take, capture };
}

test('a secret is accepted only at the address with the random part, and stored only once it is confirmed', async () => {
  const { stored, enrolments, take, capture } = setUp();
  assert.equal(take('early'), false);
  const waiting = enrolments.wait(ROUTE, 1000);
  const others = ['/webhooks/r', '/webhooks/r/', `/webhooks/r/${'x'.repeat(32)}`, `/webhooks/r/${KEY}/`];
  for (const path of [...others, `/webhooks/r?/${KEY}`, `/webhooks/r/k${KEY}`, `/webhooks/r/${KEY.toUpperCase()}`]) {
    assert.equal(take('of a stranger', path), false, path);
    assert.equal(capture.isAwaited?.(at(path)), false, path);
  }
  assert.equal(enrolments.capture(routePlan('other'))('x', at(`/webhooks/other/${KEY}`)), false);
  assert.equal(enrolments.capture(routePlan('r', { profile: 'p' }))('x', at(`/p/p/webhooks/r/${KEY}`)), false);
  assert.equal(take('first', `/webhooks/r/${KEY}?x=1`), true);
  assert.equal(take('first'), true, 'the sender tries again');
  const report = { file: null, reason: null, client: '192.0.2.1', fingerprint: fingerprint('first') };
  assert.deepEqual(await waiting, { ...report, kind: 'arrived' });
  assert.deepEqual(stored, []);
  const confirmed = await enrolments.wait({ ...ROUTE, confirm: fingerprint('first') }, 1000);
  assert.deepEqual(confirmed, { ...report, kind: 'stored', file: '/file' });
  assert.equal(take('late'), false);
  assert.deepEqual(stored, ['r: first']);
});

test('two different secrets end the enrolment, before and after the first is shown', async () => {
  const { clock, stored, enrolments, take } = setUp();
  for (const shown of [true, false]) {
    const waiting = enrolments.wait(ROUTE, 1000);
    assert.equal(take('first'), true);
    if (shown) assert.equal((await waiting).kind, 'arrived');
    clock.advance(600_000);
    assert.equal(take('second'), false);
    assert.equal(take('first'), false);
    const { kind, reason } = await (shown
      ? enrolments.wait({ ...ROUTE, confirm: fingerprint('first') }, 1000)
      : waiting);
    assert.deepEqual([kind, reason], ['failed', 'two different secrets arrived']);
  }
  assert.deepEqual(stored, []);
});

test('the fingerprint of another secret confirms nothing, and a new command replaces an abandoned one', async () => {
  const { stored, enrolments, take } = setUp();
  const abandoned = enrolments.wait(ROUTE, 1000);
  assert.equal(take('first'), true);
  await abandoned;
  const next = { ...ROUTE, key: 'n'.repeat(32) };
  const waiting = enrolments.wait(next, 1000);
  assert.equal(take('at the old address'), false);
  assert.equal(take('second', `/webhooks/r/${next.key}`), true);
  assert.equal((await waiting).fingerprint, fingerprint('second'));
  assert.equal((await enrolments.wait({ ...next, confirm: fingerprint('first') }, 1000)).kind, 'failed');
  assert.deepEqual(stored, []);
});

test('the enrolment stays open between two polls, and closes without a further poll', async () => {
  const { clock, enrolments, take } = setUp();
  const turn = enrolments.wait(ROUTE, 1000);
  clock.advance(1000);
  assert.equal((await turn).kind, 'waiting');
  clock.advance(5001);
  assert.equal(take('much later'), false);
  const again = enrolments.wait(ROUTE, 1000);
  clock.advance(1000);
  assert.equal((await again).kind, 'waiting');
  clock.advance(4000);
  assert.equal(take('between the turns'), true);
  assert.equal((await enrolments.wait(ROUTE, 1000)).kind, 'arrived');
});

test('the command gets the reason why a secret cannot be stored', async () => {
  const { enrolments, take } = setUp(() => {
    throw new Error('the disk is full');
  });
  const waiting = enrolments.wait(ROUTE, 1000);
  assert.equal(take('first'), true);
  await waiting;
  const { kind, reason } = await enrolments.wait({ ...ROUTE, confirm: fingerprint('first') }, 1000);
  assert.deepEqual([kind, reason], ['failed', 'the disk is full']);
});

test('the secret before it stays until the gateway serves the route with the new one', async (t) => {
  const home = tempDir(t);
  const file = join(home, 'secret');
  const ref = { kind: 'file', value: file, scope: 'default' } as const;
  const plan = routePlan('r', { secrets: [{ ref, expires_at: null }] });
  const store = captureStore({ home, userHome: home }, (_ref, secret) => {
    if (secret.startsWith('stand-in')) throw new SecretError('a stand-in');
  });
  writeFileSync(file, 'the one before\n');
  const seen: string[] = [];
  const load = (isServed: boolean) => async (): Promise<boolean> => {
    seen.push(readFileSync(file, 'utf8'));
    return isServed;
  };
  for (const secret of ['5', 'stand-in of some length', 'refused by the table'])
    await assert.rejects(store(plan, secret, load(false)), SecretError, secret);
  assert.deepEqual([seen, readFileSync(file, 'utf8')], [['refused by the table\n'], 'the one before\n']);
  assert.equal(await store(plan, 'served by the table', load(true)), file);
  assert.equal(readFileSync(file, 'utf8'), 'served by the table\n');
});
