/** A field without effect. */

import type { BlueprintField, BlueprintPlan } from '../../schemas/generated/types.ts';
import { scheduleFields } from '../blueprints/combinations.ts';
import { DELIVER_FIELD } from '../blueprints/fields.ts';
import { findPlaceholders } from '../blueprints/placeholders.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const blueprintUnusedField = {
  id: 'blueprint-unused-field',
  /** Reports fields that neither the schedule nor the prompt uses. */
  check(blueprint: Pick<BlueprintPlan, 'prompt' | 'fields' | 'schedule'>): readonly Problem[] {
    const inPrompt = new Set(findPlaceholders(blueprint.prompt).map(({ name }) => name));
    const inSchedule = scheduleFields(blueprint);
    const isUsed = (field: BlueprintField): boolean =>
      field.name === DELIVER_FIELD.name || inPrompt.has(field.name) || inSchedule.includes(field);
    return blueprint.fields.flatMap((field, index) =>
      isUsed(field)
        ? []
        : [
            {
              rule: 'blueprint-unused-field',
              path: ['fields', index, 'name'],
              at: 'value' as const,
              message: `\`${field.name}\` is asked for and used neither in the schedule nor in the prompt`,
            },
          ],
    );
  },
} as const satisfies ListedRule;
