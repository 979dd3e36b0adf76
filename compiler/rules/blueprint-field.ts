/** An invalid field of a blueprint. */

import type { BlueprintFieldFile } from '../../schemas/generated/types.ts';
import { RESERVED_NAMES } from '../blueprints/fields.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const blueprintField = {
  id: 'blueprint-field',
  check(fields: readonly BlueprintFieldFile[]): readonly Problem[] {
    return fields.flatMap((field, index) => {
      const path = ['fields', index];
      return [...checkName(field, path, fields.slice(0, index)), ...checkOptions(field, path)];
    });
  },
} as const satisfies ListedRule;

function checkName(field: BlueprintFieldFile, path: NodePath, earlier: readonly BlueprintFieldFile[]): Problem[] {
  const at = { path: [...path, 'name'], at: 'value' } as const;
  if (RESERVED_NAMES.includes(field.name)) {
    const why = field.name === 'deliver' ? 'is added to every blueprint' : 'is derived for the schedule';
    return [{ rule: 'blueprint-field', ...at, message: `the name \`${field.name}\` ${why}; choose another one` }];
  }
  const first = earlier.findIndex((other) => other.name === field.name);
  if (first === -1) return [];
  const related = [{ path: ['fields', first, 'name'], message: 'the first one is here' }];
  return [{ rule: 'blueprint-field', ...at, message: `a second field named \`${field.name}\``, related }];
}

function checkOptions(field: BlueprintFieldFile, path: NodePath): Problem[] {
  const { type, options } = field;
  if (type === 'enum') {
    if (options === undefined) {
      return [{ rule: 'blueprint-field', path, at: 'key', message: 'an `enum` field needs `options`' }];
    }
    const repeated = options.findIndex((option, index) => options.indexOf(option) !== index);
    if (repeated === -1) return [];
    const at = { path: [...path, 'options', repeated], at: 'value' } as const;
    return [{ rule: 'blueprint-field', ...at, message: `the option \`${options[repeated]}\` is listed twice` }];
  }
  if (options === undefined) return [];
  const why = type === 'weekdays' ? 'a `weekdays` field has its own options' : `a \`${type}\` field takes no options`;
  const at = { path: [...path, 'options'], at: 'key' } as const;
  return [{ rule: 'blueprint-field', ...at, message: `${why}; remove \`options\`, or make it an \`enum\`` }];
}
