/** Checks that a blueprint's schedule is valid for all options (§2.8). */

import type { Problem } from '../../../compiler/diagnostics/problem.ts';
import { parseSchedule } from '../../../compiler/schedule/parse-schedule.ts';
import type { BlueprintField, BlueprintPlan } from '../../../schemas/generated/types.ts';
import { combinations, countCombinations } from './combinations.ts';
import type { BlueprintValues } from './fields.ts';
import { dayField, timeField } from './fields.ts';
import type { BlueprintPlaceholder } from './placeholders.ts';
import { findPlaceholders } from './placeholders.ts';

/** Checks the schedule for every choice of the user. Reports only the first combination that makes it invalid. */
export function checkSchedule(blueprint: Pick<BlueprintPlan, 'fields' | 'schedule'>): readonly Problem[] {
  const unfilled = checkPlaceholders(blueprint.schedule, blueprint.fields);
  if (unfilled.length > 0) return unfilled;
  const count = countCombinations(blueprint);
  if (count > MAX_COMBINATIONS) {
    return [{ ...AT, message: `${count} combinations are too many to check; the maximum is ${MAX_COMBINATIONS}` }];
  }
  for (const { values, schedule } of combinations(blueprint)) {
    const parsed = parseSchedule(schedule);
    if (parsed.ok) continue;
    const made =
      Object.keys(values).length === 0 ? '' : `with ${printValues(values)} the schedule is \`${schedule}\`: `;
    return [{ ...AT, message: `${made}${parsed.message}` }];
  }
  return [];
}

/** Checking this many takes about a second. */
const MAX_COMBINATIONS = 50_000;

const AT = { rule: 'blueprint-schedule', path: ['schedule'], at: 'value' } as const;

/** Returns why a placeholder cannot be filled, or null. */
function placeholderFault(name: string, fields: readonly BlueprintField[]): string | null {
  if (name === 'minute' || name === 'hour') {
    return timeField(fields) === null ? `\`{${name}}\` needs exactly one field of type \`time\`` : null;
  }
  if (name === 'dow') {
    return dayField(fields) === null ? '`{dow}` needs exactly one field whose options are days of the week' : null;
  }
  const field = fields.find((other) => other.name === name);
  if (field === undefined) {
    const known = [...fields.map((other) => other.name), 'minute', 'hour', 'dow'].map((other) => `\`${other}\``);
    return `no field fills \`{${name}}\`; the fields are ${known.join(', ')}`;
  }
  if (field.type === 'time') return `use \`{minute}\` and \`{hour}\` in place of \`{${name}}\``;
  if (field.type === 'text') return `\`${name}\` takes any text and cannot be part of a schedule`;
  return field.strict ? null : `\`${name}\` is not strict and cannot be part of a schedule`;
}

function checkPlaceholders(schedule: string, fields: readonly BlueprintField[]): readonly Problem[] {
  const fault = ({ name, offset, length }: BlueprintPlaceholder): Problem[] => {
    const message = placeholderFault(name, fields);
    if (message === null) return [];
    const within = { offset, length };
    return [{ ...AT, within, message }];
  };
  const problems = findPlaceholders(schedule).flatMap(fault);
  if (problems.length > 0 || !/[{}]/.test(schedule.replace(/\{[a-z0-9_]+\}/g, ''))) return problems;
  return [{ ...AT, message: 'a brace here is not part of a `{name}` placeholder' }];
}

function printValues(values: BlueprintValues): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
