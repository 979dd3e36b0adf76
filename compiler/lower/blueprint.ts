/** Lowers one blueprint file to its plan: complete fields, and a schedule that is valid whatever the user chooses. */
import type { BlueprintFile, BlueprintPlan } from '../../schemas/generated/types.ts';
import { checkFields } from '../blueprints/check-fields.ts';
import { checkPrompt, checkUnused } from '../blueprints/check-prompt.ts';
import { checkSchedule } from '../blueprints/check-schedule.ts';
import { completeField, DELIVER_FIELD } from '../blueprints/fields.ts';
import type { Lowered } from '../diagnostics/problem.ts';

/** Paths of the problems start at the root of the file. Faulty fields hide what the schedule and the prompt make of them. */
export function lowerBlueprint(file: BlueprintFile): Lowered<BlueprintPlan> {
  const faultyFields = checkFields(file);
  if (faultyFields.length > 0) return { plan: null, problems: faultyFields };
  const plan: BlueprintPlan = {
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
  const errors = [...checkSchedule({ ...plan, schedule: file.schedule }), ...checkPrompt(plan)];
  return errors.length > 0 ? { plan: null, problems: errors } : { plan, problems: checkUnused(plan) };
}
