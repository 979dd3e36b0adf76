/** Fakes the service of a target case: issues tokens, returns configured responses, and compares the requests. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';
import { lowerBinding } from '../../compiler/lower/binding.ts';
import type { TestDeliverer } from './deliveries.ts';
import { createTestDeliverer } from './deliveries.ts';
import { FakeClock } from './fake-clock.ts';
import type { Answer, FakeServer, SeenRequest } from './fake-http.ts';
import { startFakeHttp } from './fake-http.ts';
import type { ExpectedRequest, TargetCase } from './target-cases.ts';
import { shippedTarget } from './targets.ts';

export const NOW = 1_700_000_000_000;

export interface FakeTarget {
  readonly server: FakeServer;
  readonly deliverer: TestDeliverer;
  readonly clock: FakeClock;
  /** Requests that exchanged credentials, and those that delivered. */
  readonly exchanges: readonly SeenRequest[];
  readonly sends: readonly SeenRequest[];
}

/** `answer`: to the nth delivery; exchanges succeed unless `exchanged` says otherwise. */
export async function startTarget(
  t: Pick<TestContext, 'after'>,
  one: TargetCase,
  answer: (index: number, request: SeenRequest, url: string) => Answer,
  exchanged?: (index: number) => Answer,
): Promise<FakeTarget> {
  const exchanges: SeenRequest[] = [];
  const sends: SeenRequest[] = [];
  const server = await startFakeHttp(t, (request) => {
    if (request.path === one.exchange?.request.path) {
      exchanges.push(request);
      const text = JSON.stringify(one.exchange.answer).replace('TOKEN', `canary-${exchanges.length}`);
      return exchanged?.(exchanges.length - 1) ?? { body: JSON.parse(text) };
    }
    sends.push(request);
    return answer(sends.length - 1, request, server.url);
  });
  const settings = Object.entries(one.settings).map(([name, value]) => [name, value.replace('{server}', server.url)]);
  const base = one.apiBase === false ? {} : { api_base: server.url };
  const shipped = shippedTarget(one.target);
  // The clock does not move here, and a webhook's own URL is the public service's.
  const plan = { ...shipped, variants: shipped.variants.map((variant) => ({ ...variant, pacing: [] })) };
  const config = { enabled: true, variant: one.variant, ...base, ...Object.fromEntries(settings) };
  const binding = lowerBinding(config, plan, { profile: 'default', max_attempts: 8, at_most_once: false });
  assert.deepEqual(binding.problems, []);
  assert.ok(binding.plan !== null);
  const clock = new FakeClock(NOW);
  const bindings = { default: { [one.target]: binding.plan } };
  const deliverer = createTestDeliverer(t, { targets: [plan], bindings, clock });
  assert.deepEqual(deliverer.problems, []);
  return { server, deliverer, clock, exchanges, sends };
}

const KEY = createHash('sha256').update('d1:0\n0').digest('hex');

/** Compares a request with the table. The signature is computed here separately, by the services' own rules. */
export function checkRequest(seen: SeenRequest | undefined, expected: ExpectedRequest, one: TargetCase): void {
  assert.ok(seen !== undefined, 'no request came');
  const fill = (value: unknown): unknown => JSON.parse(fillMarks(JSON.stringify(value), one));
  assert.equal(seen.method, expected.method ?? 'POST');
  assert.equal(seen.path, fillMarks(expected.path, one));
  assert.deepEqual(Object.fromEntries(seen.query), fill(expected.query ?? {}));
  for (const [name, value] of Object.entries(expected.headers ?? {})) assert.equal(seen.headers[name], value, name);
  const type = seen.headers['content-type'] ?? '';
  if (expected.json !== undefined) {
    assert.match(type, /^application\/json/);
    const actual = replaceUuid(seen.json, JSON.stringify(expected.json).includes('"UUID"'));
    assert.deepEqual(actual, fill(expected.json));
  } else if (expected.form !== undefined) {
    assert.equal(type, 'application/x-www-form-urlencoded');
    assert.deepEqual(Object.fromEntries(new URLSearchParams(seen.body)), expected.form);
  } else {
    assert.equal(seen.body, '');
  }
}

function fillMarks(text: string, one: TargetCase): string {
  const seconds = one.target === 'feishu';
  const now = String(seconds ? NOW / 1000 : NOW);
  const secret = one.settings.sign_secret ?? '';
  const sign = seconds
    ? createHmac('sha256', `${now}\n${secret}`).update('').digest('base64')
    : createHmac('sha256', secret).update(`${now}\n${secret}`).digest('base64');
  return text
    .replace(/KEY(\d\d)/g, (_, length: string) => KEY.slice(0, Number(length)))
    .replace('NOW', now)
    .replace('SIGN', sign);
}

/** Only the form of a UUID is checked. */
function replaceUuid(json: unknown, wanted: boolean): unknown {
  const uuid = /"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"/;
  return wanted ? JSON.parse(JSON.stringify(json).replace(uuid, '"UUID"')) : json;
}
