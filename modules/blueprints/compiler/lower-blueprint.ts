/** Lowers one blueprint file to its plan: complete fields, and a schedule that is valid for every choice of the user. */

import type { Lowered } from '../../../compiler/diagnostics/problem.ts';
import type { BlueprintFile, BlueprintPlan } from '../../../schemas/generated/types.ts';
import { checkFields, checkPrompt, checkUnused } from './check-fields.ts';
import { checkSchedule } from './check-schedule.ts';
import { completeField, DELIVER_FIELD } from './fields.ts';

/** Paths of problems are relative to the file. Schedule and prompt are checked only if the fields are valid. */
export function lowerBlueprint(file: BlueprintFile): Lowered<BlueprintPlan> {
  const faultyFields = checkFields(file.fields);
  if (faultyFields.length > 0) return { plan: null, problems: faultyFields };
  const plan = planOf(file);
  const errors = [...checkSchedule({ ...plan, schedule: file.schedule }), ...checkPrompt(plan)];
  return errors.length > 0 ? { plan: null, problems: errors } : { plan, problems: checkUnused(plan) };
}

/** The plan of a file without errors. */
export function planOf(file: BlueprintFile): BlueprintPlan {
  return {
    key: file.key,
    title: file.title,
    description: file.description,
    category: file.category,
    tags: [...file.tags],
    fields: [...file.fields.map(completeField), DELIVER_FIELD],
    schedule: file.schedule.trim().split(/\s+/).join(' '),
    prompt: file.prompt,
    skills: [...(file.skills ?? [])],
  };
}
