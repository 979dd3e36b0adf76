/** Checks that a blueprint's prompt can be filled, and that no input is asked for in vain. */
import type { BlueprintField, BlueprintPlan } from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { blueprintPrompt } from '../rules/blueprint-prompt.ts';
import { blueprintUnusedField } from '../rules/blueprint-unused-field.ts';
import { scheduleFields } from './combinations.ts';
import { DELIVER_FIELD } from './fields.ts';
import { findPlaceholders } from './placeholders.ts';

/** Placeholders of the prompt that no field fills. */
export function checkPrompt({ prompt, fields }: Pick<BlueprintPlan, 'prompt' | 'fields'>): readonly Problem[] {
  const names = fields.map((field) => field.name);
  return findPlaceholders(prompt)
    .filter(({ name }) => !names.includes(name))
    .map(({ name, offset, length }) => ({
      rule: blueprintPrompt,
      path: ['prompt'],
      at: 'value' as const,
      within: { offset, length },
      message: `no field fills \`{${name}}\`; there are ${names.map((other) => `\`${other}\``).join(', ')}`,
    }));
}

/** Fields that neither the schedule nor the prompt uses. */
export function checkUnused(blueprint: Pick<BlueprintPlan, 'prompt' | 'fields' | 'schedule'>): readonly Problem[] {
  const inPrompt = new Set(findPlaceholders(blueprint.prompt).map(({ name }) => name));
  const inSchedule = scheduleFields(blueprint);
  const isUsed = (field: BlueprintField): boolean =>
    field.name === DELIVER_FIELD.name || inPrompt.has(field.name) || inSchedule.includes(field);
  return blueprint.fields.flatMap((field, index) =>
    isUsed(field)
      ? []
      : [
          {
            rule: blueprintUnusedField,
            path: ['fields', index, 'name'],
            at: 'value' as const,
            message: `\`${field.name}\` is asked for and used neither in the schedule nor in the prompt`,
          },
        ],
  );
}
