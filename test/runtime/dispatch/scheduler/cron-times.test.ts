/** The compiler's forecast and the scheduler use separate code to compute instants; their results must not differ. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextRuns, parseSchedule } from '../../../../compiler/schedule/parse-schedule.ts';
import { readCron } from '../../../../runtime/dispatch/scheduler/job.ts';

const field = (low: number, high: number): fc.Arbitrary<string> => {
  const value = fc.integer({ min: low, max: high });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  return fc.oneof(
    fc.constant('*'),
    value.map(String),
    range,
    fc.uniqueArray(value, { minLength: 1, maxLength: 3 }).map((all) => all.join(',')),
    fc.integer({ min: 1, max: high }).map((step) => `*/${step}`),
  );
};
const schedule = fc
  .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
  .map((fields) => fields.join(' '));
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago');
/** Mostly near the clock changes. */
const instant = fc
  .tuple(
    fc.constantFrom('2026-03-08', '2026-03-29', '2026-04-05', '2026-09-06', '2026-10-25', '2026-11-01', '2026-06-15'),
    fc.integer({ min: -2 * 86_400_000, max: 2 * 86_400_000 }),
  )
  .map(([day, offset]) => Date.parse(day) + offset);

/** The tables of docs/jobs.md: local times in Berlin on the two days. */
const CHANGES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['30 2 * * *', ['03:00'], ['02:30']],
  ['0 2,3 * * *', ['03:00'], ['02:00', '03:00']],
  ['*/30 2 * * *', [], ['02:00', '02:30', '02:00', '02:30']],
  [
    '0 0-5/1 * * *',
    ['00:00', '01:00', '03:00', '04:00', '05:00'],
    ['00:00', '01:00', '02:00', '02:00', '03:00', '04:00', '05:00'],
  ],
];

function timesOn(text: string, from: string, to: string): readonly string[] {
  const cron = readCron(text, 'Europe/Berlin');
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit' });
  const times: string[] = [];
  for (let at = cron.next(Date.parse(from) - 1); at !== null && at < Date.parse(to); at = cron.next(at)) {
    times.push(format.format(at));
  }
  return times;
}

for (const [text, march, october] of CHANGES) {
  test(`\`${text}\` on the days when the clocks change`, () => {
    assert.deepEqual(timesOn(text, '2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00'), march);
    assert.deepEqual(timesOn(text, '2026-10-25T00:00:00+02:00', '2026-10-26T00:00:00+01:00'), october);
  });
}

test('an interval is even on the days when the clocks change', () => {
  assert.equal(timesOn('*/30 * * * *', '2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00').length, 46);
  assert.equal(timesOn('*/30 * * * *', '2026-10-25T00:00:00+02:00', '2026-10-26T00:00:00+01:00').length, 50);
});

test('the scheduler fires when the compiler forecasts it', () => {
  fc.assert(
    fc.property(schedule, zone, instant, (text, timezone, from) => {
      fc.pre(parseSchedule(text).ok);
      const cron = readCron(text, timezone);
      const forecast = nextRuns({ schedule: text, timezone, from, count: 4 });
      const fired: number[] = [];
      for (let at = cron.next(from); at !== null && fired.length < 4; at = cron.next(at)) fired.push(at);
      assert.deepEqual(fired, forecast);
      const [first = 0, , , last = 0] = forecast;
      assert.equal(cron.latest(first, last), last);
      assert.equal(cron.latest(first, last + 30_000), last);
      assert.equal(cron.count(from, last, 100), 3);
    }),
    { seed: 20260101, numRuns: 150 },
  );
});
