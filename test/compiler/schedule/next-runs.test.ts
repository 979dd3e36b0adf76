import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTimeZone, nextRuns } from '../../../compiler/schedule/parse-schedule.ts';

function runs(schedule: string, timezone: string, from: string): readonly string[] {
  return nextRuns({ schedule, timezone, from: Date.parse(from), count: 3 }).map((at) => new Date(at).toISOString());
}

test('returns runs in the zone of the schedule', () => {
  assert.deepEqual(runs('0 8 * * *', 'Asia/Tokyo', '2026-01-01T00:00:00Z'), [
    '2026-01-01T23:00:00.000Z',
    '2026-01-02T23:00:00.000Z',
    '2026-01-03T23:00:00.000Z',
  ]);
});

test('excludes a run at the start instant', () => {
  assert.equal(runs('0 8 * * *', 'UTC', '2026-01-01T08:00:00Z')[0], '2026-01-02T08:00:00.000Z');
});

test('a schedule without a date has no runs', () => {
  assert.deepEqual(runs('0 8 30 2 *', 'UTC', '2026-01-01T00:00:00Z'), []);
});

for (const [name, expected] of [
  ['Europe/Berlin', true],
  ['UTC', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Etc/GMT+5', true],
  ['+02:00', false],
  ['Mars/Olympus', false],
  ['', false],
  ['Europe/Berlin; x', false],
] as const) {
  test(`\`${name}\` is ${expected ? 'a' : 'no'} time zone`, () => assert.equal(isTimeZone(name), expected));
}

test('an invalid stored schedule or zone never fires and does not throw', () => {
  for (const [schedule, timezone] of [
    ['9 9 9', 'UTC'],
    ['* * * * *', 'Nowhere/At-All'],
    ['\u0000', 'UTC'],
  ] as const)
    assert.deepEqual(nextRuns({ schedule, timezone, from: 0, count: 1 }), []);
});
