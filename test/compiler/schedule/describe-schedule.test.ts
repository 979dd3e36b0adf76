import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSchedule } from '../../../compiler/schedule/describe-schedule.ts';

const CASES: readonly (readonly [string, string])[] = [
  ['0 8 * * *', 'daily at 08:00'],
  ['5 21 * * 1-5', 'weekdays at 21:05'],
  ['0 10 * * 0,6', 'weekends at 10:00'],
  ['0 18 * * 0', 'sunday at 18:00'],
  ['0 18 * * 7', 'sunday at 18:00'],
  ['0 18 * * 1,3', 'monday, wednesday at 18:00'],
  ['0 18 1 * *', 'monthly on day 1 at 18:00'],
  ['* * * * *', 'every minute'],
  ['*/30 * * * *', 'every 30 minutes'],
  ['*/60 * * * *', 'every hour'],
  ['*/15 * * * 1-5', 'weekdays, every 15 minutes'],
  ['0 * * * *', 'every hour'],
  ['15 * * * *', 'every hour at :15'],
  ['0 */6 * * *', 'every 6 hours'],
  ['0 9-17/1 * * 1-5', 'weekdays, every hour'],
  ['0 9-17 * * *', 'every hour'],
  ['0 9-17/3 * * 1-5', 'weekdays, every 3 hours'],
];

for (const [schedule, words] of CASES) {
  test(`\`${schedule}\` is ${words}`, () => assert.equal(describeSchedule(schedule), words));
}

test('days that were chosen by name keep their name', () => {
  assert.equal(describeSchedule('0 14 * * *', 'everyday'), 'everyday at 14:00');
  assert.equal(describeSchedule('0 14 * * 0', 'sunday'), 'sunday at 14:00');
});

for (const schedule of [
  '*/45 * * * *', // 0 and 45 past: not every 45 minutes
  '0 */5 * * *',
  '0 8,20 * * *',
  '0 8 * 1 *',
  '0 8 13 * 5',
  '0 8 L * *',
  '0 8 * * 1#2',
  'nonsense',
]) {
  test(`\`${schedule}\` has no short form and is printed unchanged`, () =>
    assert.equal(describeSchedule(schedule), schedule));
}
