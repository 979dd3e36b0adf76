import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWindows } from '../../../modules/guard/runtime/budgets.ts';

const HOUR = 3_600_000;
const at = (text: string): number => Date.parse(text);

describe('the window of a budget', () => {
  const days: readonly [zone: string, now: string, since: string, hours: number][] = [
    ['UTC', '2026-01-10T12:34:56.789Z', '2026-01-10T00:00:00Z', 24],
    ['Europe/Berlin', '2026-01-10T23:30:00Z', '2026-01-10T23:00:00Z', 24],
    ['Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', 23],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', 25],
    ['Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-24T22:00:00Z', 25],
    ['Asia/Kathmandu', '2026-01-10T18:15:00Z', '2026-01-10T18:15:00Z', 24],
    // Daylight saving time begins at midnight: the day begins at one.
    ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00Z', 23],
  ];
  for (const [zone, now, since, hours] of days) {
    it(`is the day of ${now} in ${zone}`, () => {
      const window = createWindows(zone)('day', at(now));
      assert.deepEqual(window, { since: at(since), until: at(since) + hours * HOUR });
    });
  }

  it('is the hour in the time zone', () => {
    const hour = (zone: string, now: string) => createWindows(zone)('hour', at(now));
    const from = (since: string) => ({ since: at(since), until: at(since) + HOUR });
    assert.deepEqual(hour('UTC', '2026-01-10T12:59:59.999Z'), from('2026-01-10T12:00:00Z'));
    assert.deepEqual(hour('Asia/Kathmandu', '2026-01-10T12:14:00Z'), from('2026-01-10T11:15:00Z'));
    // 02:30 occurs twice, in two different hours.
    assert.deepEqual(hour('Europe/Berlin', '2026-10-25T00:30:00Z'), from('2026-10-25T00:00:00Z'));
    assert.deepEqual(hour('Europe/Berlin', '2026-10-25T01:30:00Z'), from('2026-10-25T01:00:00Z'));
  });

  it('is the same for all of its instants, in any order', () => {
    const windows = createWindows('Europe/Berlin');
    for (const zone of [windows]) {
      for (let hour = 0; hour < 72; hour++) {
        const now = at('2026-03-27T23:00:00Z') + hour * HOUR;
        const { since, until } = zone('day', now);
        assert.ok(since <= now && now < until, new Date(now).toISOString());
        assert.deepEqual(createWindows('Europe/Berlin')('day', until), zone('day', until));
        assert.equal(zone('day', until).since, until);
      }
    }
  });
});
