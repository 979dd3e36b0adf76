/** Tests the time formats of senders, and values that are not times. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkMaxAge } from '../../../runtime/table/link-events.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const { ageOf } = linkMaxAge({ seconds: 60, time: { in: 'root', path: ['at'] } });
const age = (at: unknown): number | null => ageOf({ payload: { at }, event: 'x', headers: {} }, NOW);

test('Unix times of any unit, ISO 8601, RFC 2822, and texts of Go and C are times, as numbers or text', () => {
  for (const at of [
    NOW / 1000 - 90,
    NOW - 90_000,
    String(NOW / 1000 - 90),
    String(NOW - 90_000),
    '2026-01-01T11:58:30Z',
    '2026-01-01T12:58:30.000+01:00',
    '2026-01-01 11:58:30 +0000',
    (NOW - 90_000) * 1000,
    String((NOW - 90_000) * 1000),
    `${NOW - 90_000}000000`,
    Number(`${NOW - 90_000}000000`),
    '2026-01-01T11:58:30.000000000Z',
    '2026-01-01T11:58:30',
    '2026-01-01 11:58:30.000',
    '2026-01-01 11:58:30 UTC',
    '20260101T115830Z',
    '20260101T125830+01',
    '2026-01-01T11:58:30,0z',
    'Thu, 01 Jan 2026 11:58:30 +0000',
    'Thu, 1 Jan 2026 12:58:30 +0100 (CET)',
    '1 Jan 2026 06:58:30 EST',
    'Thu, 01 Jan 2026 11:58:30 GMT',
    'Thu, 01 Jan 2026 11:58:30',
    '2026-01-01 11:58:30 +0000 UTC',
    '2026-01-01 11:58:30.000000000 +0000 UTC m=+0.012345678',
    '2026-01-01 12:58:30 +0100 CET',
    '2026-01-01 08:58:30 -0300 -03',
    'Thu Jan  1 11:58:30 2026',
    'Thu Jan 1 11:58:30 UTC 2026',
    'Thu Jan 01 12:58:30 +0100 2026',
  ]) {
    assert.equal(age(at), 90_000, String(at));
  }
  assert.equal(age(NOW / 1000 - 0.5), 500);
  assert.equal(age(NOW + 5), -5);
});

test('a value that is not a time has no age', () => {
  for (const at of [
    undefined,
    null,
    true,
    '',
    'soon',
    '2026-13-41',
    '2026-13-41T00:00:00Z',
    '2026-01-01T11:58:30+',
    'Thu, 41 Jan 2026 11:58:30 GMT',
    'Thu, 01 Jan 2026',
    'Thu Jan 41 11:58:30 2026',
    '2026-01-01 11:58:30 +0000 somewhere',
    '123456789012345678901234567890',
    -5,
    {},
    [1],
    '1e9',
  ])
    assert.equal(age(at), null, JSON.stringify(at));
});

test('a date without a time is the end of its day, so that no event of that day is too old', () => {
  assert.equal(age('2025-12-31'), 12 * 3_600_000 + 1);
  assert.equal(age('2026-01-01'), -12 * 3_600_000 + 1);
});
