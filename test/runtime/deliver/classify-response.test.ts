/**
 * Tests how responses are read: conditions on the body, rules in order, units of waits, and the default meaning of a status.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkClassifier, readResponse } from '../../../runtime/deliver/http/classify-response.ts';
import type { TargetFile } from '../../../schemas/generated/types.ts';
import { lowerTargetFile } from '../../helpers/targets.ts';

const NOW = Date.UTC(2026, 0, 1);

function classify(
  file: Partial<TargetFile>,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const [variant] = lowerTargetFile('t', {
    title: 'T',
    base: 'https://t.example',
    request: { path: '/' },
    ...file,
  }).variants;
  assert.ok(variant !== undefined);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return linkClassifier(variant)(readResponse({ status, headers, body: Buffer.from(text) }), NOW);
}

test('a status has its default meaning without a rule of the target', () => {
  const meaning = (status: number): string => classify({}, status, '').kind;
  assert.deepEqual([200, 201, 204].map(meaning), ['ok', 'ok', 'ok']);
  assert.deepEqual([408, 425, 500, 501, 502, 504, 505, 599].map(meaning), Array(8).fill('ambiguous'));
  assert.deepEqual([301, 400, 401, 403, 404, 418].map(meaning), Array(6).fill('permanent'));
  assert.deepEqual([429, 503].map(meaning), ['retry', 'retry']);
});

test('the first matching rule decides, after success and before the defaults', () => {
  const file: Partial<TargetFile> = {
    success: { status: 200, body: { ok: true } },
    outcomes: [
      { when: { status: '5xx', body: { code: [1, 2] } }, outcome: 'retry', reason: 'first' },
      { when: { status: [500, 501] }, outcome: 'permanent', reason: 'second' },
      { when: { headers: { 'x-maintenance': { exists: true } } }, outcome: 'retry', wait_seconds: 90 },
      { when: { text: '(?i)pending' }, outcome: 'ok_pending' },
    ],
  };
  assert.equal(classify(file, 200, { ok: true, code: 1 }).kind, 'ok');
  assert.match(JSON.stringify(classify(file, 500, { code: 2 })), /retry.*first/);
  assert.match(JSON.stringify(classify(file, 501, { code: 3 })), /permanent.*second/);
  const { reason, ...limited } = classify(file, 503, '', { 'x-maintenance': 'yes' }) as { readonly reason: string };
  assert.match(reason, /\bHTTP 503\b/);
  assert.deepEqual(limited, { kind: 'retry', retry_after_ms: 90_000 });
  assert.equal(classify(file, 202, 'Pending').kind, 'ok');
});

test('conditions on the body', () => {
  const holds = (body: Record<string, unknown>, expected: NonNullable<TargetFile['success']>['body']): boolean =>
    classify({ success: { status: 200, ...(expected === undefined ? {} : { body: expected }) } }, 200, body).kind ===
    'ok';
  const CASES: readonly (readonly [NonNullable<NonNullable<TargetFile['success']>['body']>, unknown, boolean])[] = [
    [{ a: 1 }, { a: 1 }, true],
    [{ a: 1 }, { a: '1' }, false],
    [{ a: null }, { a: null }, true],
    [{ a: null }, {}, false],
    [{ a: [1, 'x'] }, { a: 'x' }, true],
    [{ 'a.0.b': true }, { a: [{ b: true }] }, true],
    [{ 'a.__proto__.b': { exists: false } }, { a: {} }, true],
    [{ a: { exists: true } }, { a: null }, false],
    [{ a: { exists: false } }, {}, true],
    [{ a: { empty: true } }, { a: [] }, true],
    [{ a: { empty: true } }, { a: 0 }, false],
    [{ a: { empty: false } }, { a: { b: 1 } }, true],
    [{ a: { is: 'array' } }, { a: {} }, false],
    [{ '.': { is: 'array' } }, [], true],
    [{ a: { not: [1, 2] } }, { a: 3 }, true],
    [{ a: { not: [1, 2] } }, {}, true],
    [{ a: { matches: '^x' } }, { a: 'xy' }, true],
    [{ a: { matches: '^4' } }, { a: 42 }, true],
    [{ a: { matches: 'x' } }, { a: ['x'] }, false],
    [{ a: { between: [1, 5] } }, { a: 5 }, true],
    [{ a: { between: [1, 5] } }, { a: '3' }, false],
    [{ a: { every: { t: 'ok' } } }, { a: [{ t: 'ok' }, { t: 'ok' }] }, true],
    [{ a: { every: { t: 'ok' } } }, { a: [{ t: 'ok' }, { t: 'no' }] }, false],
    [{ a: { every: { t: 'ok' } } }, {}, true],
    [{ a: { every: { t: 'ok' } } }, { a: 'x' }, false],
    [{ a: { exists: true, is: 'string' } }, { a: 1 }, false],
  ];
  for (const [expected, body, result] of CASES) {
    assert.equal(holds(body as Record<string, unknown>, expected), result, JSON.stringify([expected, body]));
  }
});

test('the wait is read from the first valid source, in its unit, and capped', () => {
  const wait = (
    retry_after: TargetFile['retry_after'],
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): number | null => {
    const result = classify(retry_after === undefined ? {} : { retry_after }, 429, body, headers);
    return result.kind === 'ok' ? null : result.retry_after_ms;
  };
  const from = {
    from: [
      { body: 'after', unit: 'ms' as const },
      { text: 'again in (\\d+)', unit: 's' as const },
      { header: 'X-Reset' },
      { header: 'Retry-After' },
    ],
  };
  assert.equal(wait(from, { after: 1500 }), 1500);
  assert.equal(wait(from, { after: '20' }), 20);
  assert.equal(wait(from, 'try again in 7 s'), 7000);
  assert.equal(wait(from, '', { 'x-reset': '0.25', 'retry-after': '9' }), 250);
  assert.equal(wait(from, '', { 'x-reset': 'soon', 'retry-after': '9' }), 9000);
  assert.equal(wait(undefined, '', { 'retry-after': new Date(NOW + 5000).toUTCString() }), 5000);
  assert.equal(wait(undefined, '', { 'retry-after': new Date(NOW - 5000).toUTCString() }), 0);
  assert.equal(wait({ ...from, cap_seconds: 60 }, '', { 'retry-after': '86400' }), 60_000);
  for (const odd of ['-1', '1e9', 'NaN', '', 'soon', '0x10'])
    assert.equal(wait(undefined, '', { 'retry-after': odd }), null, odd);
  assert.equal(wait(from, { after: -5 }), null);
});

test('an error code of the service is shown only if it is a short word', () => {
  const reason = (code: unknown): string => {
    const result = classify({ error_code: 'error.code' }, 400, { error: { code } });
    return result.kind === 'ok' ? '' : result.reason;
  };
  assert.equal(reason('not_allowed'), 'the request was rejected (HTTP 400, code not_allowed)');
  assert.equal(reason(-32600), 'the request was rejected (HTTP 400, code -32600)');
  // A code that repeats the status says nothing new.
  assert.equal(reason(400), 'the request was rejected (HTTP 400)');
  for (const odd of ['a b', 'x'.repeat(81), '<script>', { a: 1 }, null, 'https://x/y'])
    assert.equal(reason(odd), 'the request was rejected (HTTP 400)');
});
