/** Tests that a chat id from a payload cannot change the host, path, method or headers of a request, over all plans. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { BaseUrl } from '../../../base/net.ts';
import { parseBaseUrl } from '../../../base/net.ts';
import { linkAddress } from '../../../runtime/deliver/address.ts';
import type { HttpRequest } from '../../../runtime/deliver/http/link-request.ts';
import { linkRequest } from '../../../runtime/deliver/http/link-request.ts';
import { DeliveryRefusal, NO_VALUES } from '../../../runtime/deliver/http/values.ts';
import type { RequestPlan, TargetPlan, ValueTemplate } from '../../../schemas/generated/types.ts';
import { anyText } from '../../helpers/any-text.ts';
import { lowerTargetFile, shippedTargets } from '../../helpers/targets.ts';

const BASE = parseBaseUrl('https://service.example/base', { allowHttp: false, secret: false }) as BaseUrl;

const HOSTILE = [
  '..',
  '.',
  '/',
  '\\',
  '?',
  '#',
  '%2e%2e',
  '%2F',
  '@evil.example',
  '\r\nX: y',
  ' ',
  '//',
  ':',
  ';',
  '&',
  '=',
  'é',
  '😀',
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), anyText({ maxLength: 6 })), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(''));

/** The parts of a request with harmless values that nothing may change. */
function skeleton(path: ValueTemplate): RegExp {
  const parts = path.map((segment) =>
    segment.kind === 'text' ? segment.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : '[A-Za-z0-9._~%:@-]+',
  );
  return new RegExp(`^/base${parts.join('')}(?:\\?[^/#]*)?$`.replace(/\[\^\/#\]/, '[A-Za-z0-9._~%&=-]'));
}

function build(plan: RequestPlan, value: string): HttpRequest | null {
  const all = new Map(['chat_id', 'thread', 'title', 'subject', 'room'].map((name) => [name, value]));
  const match = new Map(['id', 'name'].map((name) => [name, value]));
  const settings = new Map(SETTINGS.map((name) => [name, '1']));
  const values = {
    ...{ ...NO_VALUES, text: 'text', content: CONTENT, address: all, match, key: 'key', piece: 1, pieces: 1 },
    ...{ marks: 'm', found: '1', timestamp: '1', signature: 'sig', exchanged_token: 'token' },
    ...{ route: 'route', delivery_id: 'id', time: 'now' },
  };
  try {
    return linkRequest(plan, { base: BASE, settings })(values);
  } catch (error) {
    assert.ok(error instanceof DeliveryRefusal, String(error));
    return null;
  }
}

const plans: readonly TargetPlan[] = Object.values(shippedTargets());
const CONTENT = Object.fromEntries(plans.flatMap(({ content = [] }) => content.map(({ name }) => [name, ['x']])));
const SETTINGS = plans.flatMap((plan) => plan.settings.map(({ name }) => name));

/** A target file that is as careless as the compiler allows. */
const CARELESS = lowerTargetFile('careless', {
  title: 'Careless',
  base: 'https://service.example',
  address: { room: { help: 'x' } },
  request: {
    path: '/a/{chat_id}/{room}-{thread}/z',
    query: { to: '{chat_id}' },
    headers: { 'x-key': '{key}' },
    plain: '{text}',
  },
});

describe('over all plans', () => {
  for (const plan of [...plans, CARELESS]) {
    const requests = plan.variants.flatMap((variant) => variant.requests);
    if (requests.length === 0) continue;
    test(plan.name, () => {
      fc.assert(
        fc.property(fc.constantFrom(...requests), hostile, (request, value) => {
          const built = build(request, value);
          if (built === null) return;
          const harmless = build(request, '1');
          assert.equal(built.origin, BASE.origin);
          assert.equal(built.method, request.method);
          assert.deepEqual(built.headers, harmless?.headers);
          assert.match(built.path, skeleton(request.path));
          const url = new URL(built.path, built.origin);
          assert.equal(url.origin, BASE.origin);
          assert.equal(`${url.pathname}${url.search}`, built.path, 'a URL parser changes nothing about it');
        }),
        { numRuns: 150, seed: 7 },
      );
    });
  }
});

test('a value that is not an address of the target is rejected', () => {
  fc.assert(
    fc.property(fc.constantFrom(...plans), hostile, (plan, value) => {
      const resolve = linkAddress(plan.variants[0]?.address ?? plan.address, null);
      const address = resolve({ extra: { chat_id: value, thread_id: value }, unresolved: [] });
      if (typeof address === 'string') return assert.ok(!address.includes(value) || value.length < 4);
      for (const resolved of address.values()) assert.doesNotMatch(resolved, /\p{Cc}/u);
    }),
    { numRuns: 500, seed: 7 },
  );
});

test('only own properties of a payload can be used', () => {
  const resolve = linkAddress([], null);
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const address = resolve({ extra: JSON.parse(`{"${name}":"x"}`), unresolved: [] });
    assert.ok(typeof address !== 'string' && address.size === 0);
  }
});

test('a base URL must be https, on this machine, or explicitly allowed', () => {
  const options = { allowHttp: false, secret: false };
  for (const text of [
    'https://a.example',
    'http://localhost:1',
    'http://127.0.0.1',
    'http://[::1]:8080/x/',
    'http://a.localhost',
  ]) {
    assert.equal(typeof parseBaseUrl(text, options), 'object', text);
  }
  for (const text of [
    'http://a.example',
    'ftp://localhost',
    'a.example',
    '',
    'https://u:p@a.example',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
  ]) {
    const problem = parseBaseUrl(text, options);
    assert.equal(typeof problem, 'string', text);
    assert.ok(!String(problem).includes('u:p'));
  }
  assert.equal(typeof parseBaseUrl('http://home.lan:8123', { allowHttp: true, secret: false }), 'object');
});
