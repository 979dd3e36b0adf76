/** Turns a blueprint and the values of its fields into a schedule and a prompt. */

import { describeSchedule } from '../../../compiler/schedule/describe-schedule.ts';
import type { BlueprintField, BlueprintPlan } from '../../../schemas/generated/types.ts';
import type { BlueprintValues } from './fields.ts';
import { DAYS_OF_WEEK, dayField, isTime, timeField } from './fields.ts';
import { fillPlaceholders } from './placeholders.ts';

export function defaultValues(fields: readonly BlueprintField[]): BlueprintValues {
  return Object.fromEntries(fields.map((field) => [field.name, field.default]));
}

function own(values: BlueprintValues, field: BlueprintField | null): string | undefined {
  return field !== null && Object.hasOwn(values, field.name) ? values[field.name] : undefined;
}

/** The values that a schedule can name: the fields, and `minute`, `hour` and `dow` derived from them. */
function scheduleValues(fields: readonly BlueprintField[], values: BlueprintValues): BlueprintValues {
  const all: Record<string, string> = { ...values };
  const time = own(values, timeField(fields));
  if (time !== undefined && isTime(time)) {
    all.hour = String(Number(time.slice(0, 2)));
    all.minute = String(Number(time.slice(3)));
  }
  const day = own(values, dayField(fields));
  if (day !== undefined && Object.hasOwn(DAYS_OF_WEEK, day)) all.dow = DAYS_OF_WEEK[day] ?? '';
  return all;
}

type Scheduled = Pick<BlueprintPlan, 'fields' | 'schedule'>;

/** The five-field cron expression for these values. */
export function expandSchedule({ fields, schedule }: Scheduled, values: BlueprintValues): string {
  return fillPlaceholders(schedule, scheduleValues(fields, values));
}

/** The job's prompt for these values. */
export function expandPrompt({ prompt }: Pick<BlueprintPlan, 'prompt'>, values: BlueprintValues): string {
  return fillPlaceholders(prompt, values);
}

/** The schedule in words for these values; days chosen by name keep that name (`everyday`, where `*` alone is `daily`). */
export function scheduleHuman(plan: Pick<BlueprintPlan, 'fields' | 'schedule'>, values: BlueprintValues): string {
  const days = plan.schedule.includes('{dow}') ? dayField(plan.fields) : null;
  return describeSchedule(expandSchedule(plan, values), days === null ? undefined : values[days.name]);
}
