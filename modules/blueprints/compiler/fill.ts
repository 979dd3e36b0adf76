/** Fills a blueprint with a user's values: a schedule and a prompt, or every problem with the values. */

import { isBlank } from '../../../base/text.ts';
import { describeSchedule } from '../../../compiler/schedule/describe-schedule.ts';
import { didYouMean } from '../../../compiler/text/suggest.ts';
import type { BlueprintField, BlueprintFieldFile, BlueprintPlan } from '../../../schemas/generated/types.ts';

/** A filled blueprint: everything that a job needs. */
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

interface FillProblem {
  readonly field: string;
  /** Names the field, the problem, and the accepted values. */
  readonly message: string;
}

type Filled =
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
  if (value === undefined || isBlank(value)) {
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

/** The default value of each field. */
export function defaultValues(fields: readonly BlueprintField[]): BlueprintValues {
  return Object.fromEntries(fields.map((field) => [field.name, field.default]));
}

function own(values: BlueprintValues, field: BlueprintField | null): string | undefined {
  return field !== null && Object.hasOwn(values, field.name) ? values[field.name] : undefined;
}

/** The values that a schedule can name: the fields, and `minute`, `hour` and `dow` derived from them. */
function scheduleValues(fields: readonly BlueprintField[], values: BlueprintValues): BlueprintValues {
  const all: Record<string, string> = { ...values };
  const time = own(values, timeField(fields));
  if (time !== undefined && isTime(time)) {
    all.hour = String(Number(time.slice(0, 2)));
    all.minute = String(Number(time.slice(3)));
  }
  const day = own(values, dayField(fields));
  if (day !== undefined && Object.hasOwn(DAYS_OF_WEEK, day)) all.dow = DAYS_OF_WEEK[day] ?? '';
  return all;
}

type Scheduled = Pick<BlueprintPlan, 'fields' | 'schedule'>;

/** The five-field cron expression for these values. */
export function expandSchedule({ fields, schedule }: Scheduled, values: BlueprintValues): string {
  return fillPlaceholders(schedule, scheduleValues(fields, values));
}

/** The job's prompt for these values. */
function expandPrompt({ prompt }: Pick<BlueprintPlan, 'prompt'>, values: BlueprintValues): string {
  return fillPlaceholders(prompt, values);
}

/** The schedule in words for these values; days chosen by name keep that name (`everyday`, where `*` alone is `daily`). */
export function scheduleHuman(plan: Pick<BlueprintPlan, 'fields' | 'schedule'>, values: BlueprintValues): string {
  const days = plan.schedule.includes('{dow}') ? dayField(plan.fields) : null;
  return describeSchedule(expandSchedule(plan, values), days === null ? undefined : values[days.name]);
}

const PLACEHOLDER = /\{([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\}/g;

/** A `{name}` in a schedule or prompt. All are filled in one pass, so values are never expanded. */
export interface BlueprintPlaceholder {
  readonly name: string;
  /** UTF-16 offset of the opening brace. */
  readonly offset: number;
  readonly length: number;
}

/** Finds all placeholders, in text order. */
export function findPlaceholders(text: string): readonly BlueprintPlaceholder[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => ({
    name: match[1] ?? '',
    offset: match.index,
    length: match[0].length,
  }));
}

/** Placeholders without a value are left unchanged. */
function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : whole,
  );
}

/** The user's choices by field name. */
export type BlueprintValues = Readonly<Record<string, string>>;

/** The value of `{dow}` for each day or group of days. */
const DAYS_OF_WEEK: Readonly<Record<string, string>> = {
  everyday: '*',
  weekdays: '1-5',
  weekends: '0,6',
  sunday: '0',
  monday: '1',
  tuesday: '2',
  wednesday: '3',
  thursday: '4',
  friday: '5',
  saturday: '6',
};

const WEEKDAYS_OPTIONS = ['everyday', 'weekdays', 'weekends'];

/** The last field of every blueprint (§2.8). Not strict: it also accepts the name of any connected platform. */
export const DELIVER_FIELD: BlueprintField = {
  name: 'deliver',
  type: 'enum',
  label: 'Where should it be delivered?',
  default: 'origin',
  options: ['origin', 'local', 'telegram', 'discord', 'email'],
  optional: false,
  strict: false,
  help: 'origin is the chat it was set up from, or else the home channel; local only saves it; the name of any connected platform works too.',
};

/** Reserved field names: `deliver` is always added, the others are derived for the schedule. */
export const RESERVED_NAMES: readonly string[] = ['deliver', 'minute', 'hour', 'dow'];

/** Whether the text is a 24-hour time, `HH:MM`. */
export function isTime(text: string): boolean {
  return /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
}

/** The field as it is published, with defaults for omitted properties. */
export function completeField(field: BlueprintFieldFile): BlueprintField {
  return {
    name: field.name,
    type: field.type,
    label: field.label,
    default: field.default,
    options: field.type === 'weekdays' ? [...WEEKDAYS_OPTIONS] : [...(field.options ?? [])],
    optional: false,
    strict: field.strict ?? true,
    help: field.help ?? '',
  };
}

/** The field that provides `{minute}` and `{hour}`: the only one of type `time`. */
export function timeField(fields: readonly BlueprintField[]): BlueprintField | null {
  const times = fields.filter((field) => field.type === 'time');
  return times.length === 1 ? (times[0] ?? null) : null;
}

/** The field that provides `{dow}`: the only one whose options are all days or groups of days. */
export function dayField(fields: readonly BlueprintField[]): BlueprintField | null {
  const days = fields.filter(
    ({ options }) => options.length > 0 && options.every((option) => Object.hasOwn(DAYS_OF_WEEK, option)),
  );
  return days.length === 1 ? (days[0] ?? null) : null;
}
