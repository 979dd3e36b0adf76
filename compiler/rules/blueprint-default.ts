/** A default that its field rejects. */

import type { BlueprintFieldFile } from '../../schemas/generated/types.ts';
import { completeField, isTime } from '../blueprints/fields.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const blueprintDefault = {
  id: 'blueprint-default',
  check(fields: readonly BlueprintFieldFile[]): readonly Problem[] {
    return fields.flatMap((field, index): readonly Problem[] => {
      const message = faultOf(field);
      return message === null
        ? []
        : [{ rule: 'blueprint-default', path: ['fields', index, 'default'], at: 'value', message }];
    });
  },
} as const satisfies ListedRule;

function faultOf(file: BlueprintFieldFile): string | null {
  const field = completeField(file);
  if (field.type === 'time') return isTime(field.default) ? null : 'the default of a `time` field is a 24-hour `HH:MM`';
  if (field.default === '') return 'the default is empty; give the value most users would take';
  if (field.type === 'text' || field.options.length === 0 || field.options.includes(field.default)) return null;
  const options = field.options.map((option) => `\`${option}\``).join(', ');
  return `the default \`${field.default}\` is not one of the options ${options}`;
}
