/** Fills a blueprint with a user's values. Returns everything that a job needs, or all problems with the values. */

import { didYouMean } from '../../../compiler/text/suggest.ts';
import type { BlueprintField, BlueprintPlan } from '../../../schemas/generated/types.ts';
import { expandPrompt, expandSchedule, scheduleHuman } from './expand.ts';
import type { BlueprintValues } from './fields.ts';
import { isTime } from './fields.ts';

export interface FilledBlueprint {
  readonly blueprint: string;
  readonly title: string;
  /** In field order. */
  readonly values: BlueprintValues;
  /** Five-field cron expression. */
  readonly schedule: string;
  readonly schedule_human: string;
  readonly prompt: string;
  /** `origin`, `local` or the name of a target, as the user wrote it. */
  readonly deliver: string;
  readonly skills: readonly string[];
}

export interface FillProblem {
  readonly field: string;
  /** Names the field, the problem, and the accepted values. */
  readonly message: string;
}

export type Filled =
  | { readonly ok: true; readonly filled: FilledBlueprint }
  | { readonly ok: false; readonly problems: readonly FillProblem[] };

/** Half of a surrogate pair, which neither URLs nor UTF-8 files can represent. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const quote = (text: string): string => `\`${text}\``;

/** Describes the values that a field accepts. */
export function describeField(field: BlueprintField): string {
  if (field.type === 'time') return 'a 24-hour time `HH:MM`, such as `08:30`';
  if (field.type === 'text') return 'any text';
  const options = field.options.map(quote).join(', ');
  return field.strict ? `one of ${options}` : `one of ${options}, or another name`;
}

function isTaken(field: BlueprintField, value: string): boolean {
  if (field.type === 'time') return isTime(value);
  return field.type === 'text' || !field.strict || field.options.includes(value);
}

/** Returns the problem with a value, or null. An absent value counts as empty; no field is optional (§2.8). */
export function checkValue(field: BlueprintField, value: string | undefined): string | null {
  const takes = `takes ${describeField(field)}`;
  if (value === undefined || value.trim() === '') {
    return field.optional ? null : `\`${field.name}\` is missing; it ${takes} (default: ${quote(field.default)})`;
  }
  if (LONE_SURROGATE.test(value)) return `\`${field.name}\` contains an incomplete character; it ${takes}`;
  return isTaken(field, value) ? null : `\`${field.name}\` cannot be ${quote(value)}; it ${takes}`;
}

function unknownFields(plan: BlueprintPlan, values: BlueprintValues): readonly FillProblem[] {
  const names = plan.fields.map((field) => field.name);
  return Object.keys(values)
    .filter((name) => !names.includes(name))
    .map((name) => ({
      field: name,
      message: `\`${plan.key}\` has no field \`${name}\`${didYouMean(name, names) || ';'} it takes ${names.map(quote).join(', ')}`,
    }));
}

/** Reports all problems at once, unknown fields first. */
export function fillBlueprint(plan: BlueprintPlan, given: BlueprintValues): Filled {
  const faults = plan.fields.flatMap((field) => {
    const message = checkValue(field, Object.hasOwn(given, field.name) ? given[field.name] : undefined);
    return message === null ? [] : [{ field: field.name, message }];
  });
  const problems = [...unknownFields(plan, given), ...faults];
  if (problems.length > 0) return { ok: false, problems };
  const values = Object.fromEntries(plan.fields.map((field) => [field.name, given[field.name] ?? '']));
  return {
    ok: true,
    filled: {
      blueprint: plan.key,
      title: plan.title,
      values,
      schedule: expandSchedule(plan, values),
      schedule_human: scheduleHuman(plan, values),
      prompt: expandPrompt(plan, values),
      deliver: values.deliver ?? '',
      skills: plan.skills,
    },
  };
}
