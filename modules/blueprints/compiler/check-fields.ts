/** Checks the fields of a blueprint: their names, options and defaults, and that schedule and prompt use them. */

import type { NodePath, Problem } from '../../../compiler/diagnostics/problem.ts';
import type { BlueprintField, BlueprintFieldFile, BlueprintPlan } from '../../../schemas/generated/types.ts';
import { scheduleFields } from './combinations.ts';
import { completeField, DELIVER_FIELD, isTime, RESERVED_NAMES } from './fields.ts';
import { findPlaceholders } from './placeholders.ts';

export function checkFields(fields: readonly BlueprintFieldFile[]): readonly Problem[] {
  return fields.flatMap((field, index) => {
    const path = ['fields', index];
    return [
      ...checkName(field, path, fields.slice(0, index)),
      ...checkOptions(field, path),
      ...checkDefault(field, [...path, 'default']),
    ];
  });
}

function checkDefault(field: BlueprintFieldFile, path: NodePath): Problem[] {
  const message = faultOf(field);
  return message === null ? [] : [{ rule: 'blueprint-default', path, at: 'value', message }];
}

function faultOf(file: BlueprintFieldFile): string | null {
  const field = completeField(file);
  if (field.type === 'time') return isTime(field.default) ? null : 'the default of a `time` field is a 24-hour `HH:MM`';
  if (field.default === '') return 'the default is empty; give the value most users would take';
  if (field.type === 'text' || field.options.length === 0 || field.options.includes(field.default)) return null;
  const options = field.options.map((option) => `\`${option}\``).join(', ');
  return `the default \`${field.default}\` is not one of the options ${options}`;
}

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

/** Reports placeholders of the prompt that no field fills. */
export function checkPrompt({ prompt, fields }: Pick<BlueprintPlan, 'prompt' | 'fields'>): readonly Problem[] {
  const names = fields.map((field) => field.name);
  return findPlaceholders(prompt)
    .filter(({ name }) => !names.includes(name))
    .map(({ name, offset, length }) => ({
      rule: 'blueprint-prompt',
      path: ['prompt'],
      at: 'value',
      within: { offset, length },
      message: `no field fills \`{${name}}\`; the fields are ${names.map((other) => `\`${other}\``).join(', ')}`,
    }));
}

/** Reports fields that neither the schedule nor the prompt uses. */
export function checkUnused(blueprint: Pick<BlueprintPlan, 'prompt' | 'fields' | 'schedule'>): readonly Problem[] {
  const inPrompt = new Set(findPlaceholders(blueprint.prompt).map(({ name }) => name));
  const inSchedule = scheduleFields(blueprint);
  const isUsed = (field: BlueprintField): boolean =>
    field.name === DELIVER_FIELD.name || inPrompt.has(field.name) || inSchedule.includes(field);
  return blueprint.fields.flatMap((field, index): readonly Problem[] => {
    if (isUsed(field)) return [];
    const message = `\`${field.name}\` is asked for and used neither in the schedule nor in the prompt`;
    return [{ rule: 'blueprint-unused-field', path: ['fields', index, 'name'], at: 'value', message }];
  });
}
