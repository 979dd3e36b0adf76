/** Enumerates every schedule that a blueprint can produce, so that all of them can be checked before a user picks one. */
import type { BlueprintField, BlueprintPlan } from '../../../schemas/generated/types.ts';
import { expandSchedule } from './expand.ts';
import type { BlueprintValues } from './fields.ts';
import { dayField, timeField } from './fields.ts';
import { findPlaceholders } from './placeholders.ts';

type Scheduled = Pick<BlueprintPlan, 'fields' | 'schedule'>;

/** Times that cover every hour and every minute at least once. */
const TIMES: readonly string[] = [
  ...Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`),
  ...Array.from({ length: 59 }, (_, minute) => `00:${String(minute + 1).padStart(2, '0')}`),
  '23:59',
];

/** The fields that the schedule uses, directly or through `{minute}`, `{hour}` and `{dow}`. */
export function scheduleFields({ fields, schedule }: Scheduled): readonly BlueprintField[] {
  const names = new Set(findPlaceholders(schedule).map(({ name }) => name));
  const time = names.has('minute') || names.has('hour') ? timeField(fields) : null;
  const day = names.has('dow') ? dayField(fields) : null;
  return fields.filter((field) => names.has(field.name) || field === time || field === day);
}

function choices(field: BlueprintField): readonly string[] {
  return field.type === 'time' ? TIMES : field.options;
}

/** The number of combinations, without creating them. */
export function countCombinations(blueprint: Scheduled): number {
  return scheduleFields(blueprint).reduce((count, field) => count * choices(field).length, 1);
}

export interface Combination {
  readonly values: BlueprintValues;
  readonly schedule: string;
}

/** Combines every option of every enum and weekdays field with every hour and every minute. */
export function* combinations(blueprint: Scheduled): Generator<Combination> {
  const fields = scheduleFields(blueprint);
  let rows: readonly BlueprintValues[] = [{}];
  for (const field of fields) {
    rows = rows.flatMap((row) => choices(field).map((choice) => ({ ...row, [field.name]: choice })));
  }
  for (const values of rows) yield { values, schedule: expandSchedule(blueprint, values) };
}
