/** Checks the inputs of a blueprint file: names, options and defaults. */
import type { BlueprintFieldFile, BlueprintFile } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { blueprintDefault } from '../rules/blueprint-default.ts';
import { blueprintField } from '../rules/blueprint-field.ts';
import { completeField, isTime, RESERVED_NAMES } from './fields.ts';

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function checkName(field: BlueprintFieldFile, path: NodePath, earlier: readonly BlueprintFieldFile[]): Problem[] {
  const at = { path: [...path, 'name'], at: 'value' } as const;
  if (RESERVED_NAMES.includes(field.name)) {
    const why = field.name === 'deliver' ? 'is added to every blueprint' : 'is derived for the schedule';
    return [{ rule: blueprintField, ...at, message: `the name \`${field.name}\` ${why}; choose another one` }];
  }
  const first = earlier.findIndex((other) => other.name === field.name);
  if (first === -1) return [];
  const related = [{ path: ['fields', first, 'name'], message: 'the first one is here' }];
  return [{ rule: blueprintField, ...at, message: `a second field named \`${field.name}\``, related }];
}

function checkOptions(field: BlueprintFieldFile, path: NodePath): Problem[] {
  const { type, options } = field;
  if (type === 'enum') {
    if (options === undefined) {
      return [{ rule: blueprintField, path, at: 'key', message: 'an `enum` field needs `options`' }];
    }
    const repeated = options.findIndex((option, index) => options.indexOf(option) !== index);
    if (repeated === -1) return [];
    const at = { path: [...path, 'options', repeated], at: 'value' } as const;
    return [{ rule: blueprintField, ...at, message: `the option \`${options[repeated]}\` is there twice` }];
  }
  if (options === undefined) return [];
  const why = type === 'weekdays' ? 'a `weekdays` field has its own options' : `a \`${type}\` field takes no options`;
  const at = { path: [...path, 'options'], at: 'key' } as const;
  return [{ rule: blueprintField, ...at, message: `${why}; remove \`options\`, or make it an \`enum\`` }];
}

function checkDefault(file: BlueprintFieldFile, path: NodePath): Problem[] {
  const at = { rule: blueprintDefault, path: [...path, 'default'], at: 'value' } as const;
  const field = completeField(file);
  if (field.type === 'time') {
    return isTime(field.default) ? [] : [{ ...at, message: 'the default of a `time` field is a 24-hour `HH:MM`' }];
  }
  if (field.default === '') return [{ ...at, message: 'the default is empty; give the value most users would take' }];
  if (field.type === 'text' || field.options.length === 0 || field.options.includes(field.default)) return [];
  return [{ ...at, message: `the default \`${field.default}\` is none of the options ${list(field.options)}` }];
}

/** Problems with the fields, with paths from the root of the blueprint. */
export function checkFields(file: BlueprintFile): readonly Problem[] {
  return file.fields.flatMap((field, index) => {
    const path = ['fields', index];
    return [
      ...checkName(field, path, file.fields.slice(0, index)),
      ...checkOptions(field, path),
      ...checkDefault(field, path),
    ];
  });
}
