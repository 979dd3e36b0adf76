import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cron } from 'croner';
import { CRON_OPTIONS } from '../../../compiler/schedule/parse-schedule.ts';
import type { BlueprintValues } from '../../../modules/blueprints/compiler/fill.ts';
import { defaultValues, expandSchedule, scheduleHuman } from '../../../modules/blueprints/compiler/fill.ts';
import { scheduleFields } from '../../../modules/blueprints/compiler/load-blueprints.ts';
import type { BlueprintField, BlueprintPlan } from '../../../schemas/generated/types.ts';
import { shippedBlueprint, shippedBlueprints } from '../../helpers/shipped-blueprints.ts';

/** A Monday without a clock change in the following two weeks. */
const START = Date.UTC(2026, 0, 5);
const DAY_MS = 86_400_000;
const DAYS = 14;

/** Runs in the two weeks, in minutes from the start. Begins a second earlier to include the first midnight. */
function firings(schedule: string): readonly number[] {
  const cron = new Cron(schedule, { ...CRON_OPTIONS, timezone: 'UTC', paused: true });
  const at: number[] = [];
  for (let from = new Date(START - 1000); ; ) {
    const next = cron.nextRun(from);
    if (next === null || next.getTime() >= START + DAYS * DAY_MS) return at;
    at.push((next.getTime() - START) / 60_000);
    from = next;
  }
}

const EDGES = [
  '00:00',
  '00:01',
  '00:59',
  '01:00',
  '09:05',
  '11:59',
  '12:00',
  '12:59',
  '13:00',
  '19:08',
  '23:00',
  '23:59',
];

function choices(field: BlueprintField): readonly string[] {
  return field.type === 'time' ? EDGES : field.options;
}

/** The defaults with every combination of the schedule's fields. */
function everyValues(plan: BlueprintPlan): readonly BlueprintValues[] {
  return scheduleFields(plan).reduce<readonly BlueprintValues[]>(
    (rows, field) => rows.flatMap((row) => choices(field).map((choice) => ({ ...row, [field.name]: choice }))),
    [defaultValues(plan.fields)],
  );
}

/** The days of the two weeks (0 is Monday) that a word for days means. */
const PROMISED: Readonly<Record<string, (weekday: number) => boolean>> = {
  daily: () => true,
  everyday: () => true,
  weekdays: (weekday) => weekday < 5,
  weekends: (weekday) => weekday >= 5,
  monday: (weekday) => weekday === 0,
  friday: (weekday) => weekday === 4,
  saturday: (weekday) => weekday === 5,
  sunday: (weekday) => weekday === 6,
};

function promisedDays(word: string): readonly number[] {
  const isPromised = PROMISED[word];
  assert.ok(isPromised, `\`${word}\` is a word for days`);
  return Array.from({ length: DAYS }, (_, day) => day).filter((day) => isPromised(day % 7));
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

test('every option fires once on each of its days at its minute, even at the edges of the day', () => {
  let checked = 0;
  for (const plan of shippedBlueprints().filter((one) => one.schedule.startsWith('{minute} {hour}'))) {
    for (const values of everyValues(plan)) {
      const words = scheduleHuman(plan, values);
      const [, days = '', time = ''] = /^(\S+) at (\d\d:\d\d)$/.exec(words) ?? [];
      assert.equal(time, values.time, `${plan.key}: ${words}`);
      assert.deepEqual(
        firings(expandSchedule(plan, values)),
        promisedDays(days).map((day) => day * 1440 + minuteOf(time)),
        `${plan.key}: ${words}`,
      );
      checked += 1;
    }
  }
  assert.equal(checked, 12 * (4 * 1 + 6 * 3 + 2 * 4));
});

test('the mail watch fires every 15, 30 or 60 minutes', () => {
  const plan = shippedBlueprint('important-mail');
  for (const minutes of [15, 30, 60]) {
    const values = { ...defaultValues(plan.fields), interval_min: String(minutes) };
    assert.deepEqual(
      firings(expandSchedule(plan, values)),
      Array.from({ length: (DAYS * 1440) / minutes }, (_, index) => index * minutes),
    );
    assert.equal(scheduleHuman(plan, values), minutes === 60 ? 'every hour' : `every ${minutes} minutes`);
  }
});

test('water and movement fires every 1, 2 or 3 hours in its window, on weekdays only', () => {
  const plan = shippedBlueprint('hydration-move');
  const all = everyValues(plan);
  assert.equal(all.length, 3 * 4 * 4);
  for (const values of all) {
    const step = Number(values.interval_hours);
    const expected = promisedDays('weekdays').flatMap((day) => {
      const hours: number[] = [];
      for (let hour = Number(values.start_hour); hour <= Number(values.end_hour); hour += step) hours.push(hour);
      return hours.map((hour) => day * 1440 + hour * 60);
    });
    assert.deepEqual(firings(expandSchedule(plan, values)), expected);
    assert.equal(scheduleHuman(plan, values), step === 1 ? 'weekdays, every hour' : `weekdays, every ${step} hours`);
  }
});

test('the three tests above cover the whole catalog', () => {
  const other = shippedBlueprints().filter((one) => !one.schedule.startsWith('{minute} {hour}'));
  assert.deepEqual(
    other.map((one) => one.key),
    ['hydration-move', 'important-mail'],
  );
});
