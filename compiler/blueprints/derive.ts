/** Derives the texts of a blueprint that its author does not write. */
import type { BlueprintPlan } from '../../schemas/generated/types.ts';
import { describeSchedule } from '../schedule/describe-schedule.ts';
import { expandSchedule } from './expand.ts';
import type { BlueprintValues } from './fields.ts';
import { dayField } from './fields.ts';

/** The schedule in words for these values; days chosen by name keep that name (`everyday`, where `*` alone is `daily`). */
export function scheduleHuman(plan: Pick<BlueprintPlan, 'fields' | 'schedule'>, values: BlueprintValues): string {
  const days = plan.schedule.includes('{dow}') ? dayField(plan.fields) : null;
  return describeSchedule(expandSchedule(plan, values), days === null ? undefined : values[days.name]);
}
