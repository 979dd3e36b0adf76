/** A placeholder that no field of the blueprint provides. */

import type { BlueprintPlan } from '../../schemas/generated/types.ts';
import { findPlaceholders } from '../blueprints/placeholders.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const blueprintPrompt = {
  id: 'blueprint-prompt',
  /** Reports placeholders of the prompt that no field fills. */
  check({ prompt, fields }: Pick<BlueprintPlan, 'prompt' | 'fields'>): readonly Problem[] {
    const names = fields.map((field) => field.name);
    return findPlaceholders(prompt)
      .filter(({ name }) => !names.includes(name))
      .map(({ name, offset, length }) => ({
        rule: 'blueprint-prompt',
        path: ['prompt'],
        at: 'value' as const,
        within: { offset, length },
        message: `no field fills \`{${name}}\`; the fields are ${names.map((other) => `\`${other}\``).join(', ')}`,
      }));
  },
} as const satisfies ListedRule;
