import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockGaps, neverFires, skippedTime, unevenSteps } from '../../../compiler/schedule/lint-schedule.ts';
import type { Schedule } from '../../../compiler/schedule/parse-schedule.ts';
import { parseSchedule } from '../../../compiler/schedule/parse-schedule.ts';

function read(text: string): Schedule {
  const parsed = parseSchedule(text);
  assert.ok(parsed.ok, text);
  return parsed.schedule;
}

for (const [text, expected] of [
  ['0 8 30 2 *', true],
  ['0 8 31 2,4,6 *', true],
  ['0 8 29 2 *', false],
  ['0 8 31 * *', false],
  ['0 8 30 2 1', false], // or on Mondays
  ['* * * * *', false],
] as const) {
  test(`\`${text}\` ${expected ? 'never fires' : 'fires'}`, () =>
    assert.equal(neverFires(read(text)) !== null, expected));
}

for (const [text, expected] of [
  ['*/45 * * * *', 1],
  ['*/7 */5 * * *', 2],
  ['0 0 */2 * *', 1],
  ['0 0 1 */5 *', 1],
  ['0 0 * * */2', 1],
  ['*/60 */24 * */12 */7', 0],
  ['*/15 */6 * */3 *', 0],
  ['0 9-17/3 * * 1-5', 0], // a range has its own end
  ['*/1 * */1 * *', 0],
] as const) {
  test(`\`${text}\` has ${expected} uneven steps`, () => assert.equal(unevenSteps(read(text)).length, expected));
}

test('finds gaps to the minute, in local time', () => {
  const local = (zone: string): readonly string[] =>
    clockGaps(zone).map(
      ({ from, to }) => `${new Date(from).toISOString()}/${new Date(to).toISOString().slice(11, 16)}`,
    );
  assert.deepEqual(local('Europe/Berlin'), ['2026-03-29T02:00:00.000Z/03:00', '2027-03-28T02:00:00.000Z/03:00']);
  assert.equal(local('Australia/Lord_Howe')[0], '2026-10-04T02:00:00.000Z/02:30');
  assert.equal(local('America/Santiago')[0], '2026-09-06T00:00:00.000Z/01:00');
  assert.deepEqual(local('Asia/Kolkata'), []);
  assert.deepEqual(local('UTC'), []);
});

for (const [text, zone, expected] of [
  ['30 2 * * *', 'Europe/Berlin', '02:00 03:00 03:00'],
  ['0 1,2 * * 0', 'Europe/Berlin', '02:00 03:00 03:00'],
  ['*/30 2 * * *', 'Europe/Berlin', '02:00 03:00'], // not at all
  ['0 0 * * *', 'America/Santiago', '00:00 01:00 01:00'],
  ['15 2 * * *', 'Australia/Lord_Howe', '02:00 02:30 02:30'],
  ['45 2 * * *', 'Australia/Lord_Howe', null],
  ['30 2 * * 1-5', 'Europe/Berlin', null], // the clocks change on a Sunday
  ['0 3 * * *', 'Europe/Berlin', null],
  ['30 2 1 1 *', 'Europe/Berlin', null],
  ['0 * * * *', 'Europe/Berlin', null],
  ['0 */2 * * *', 'Europe/Berlin', null],
  ['30 2 * * *', 'Asia/Kolkata', null],
] as const) {
  test(`\`${text}\` in ${zone} is ${expected === null ? 'never skipped' : 'skipped once a year'}`, () => {
    // Start and end of the gap, and the time of the run instead.
    const times = skippedTime(read(text), zone)?.message.match(/\d\d:\d\d/g);
    assert.equal(times?.join(' ') ?? null, expected);
  });
}
