/** The input fields of a blueprint: defaults for omitted properties, and the `deliver` field that all blueprints share. */
import type { BlueprintField, BlueprintFieldFile } from '../../../schemas/generated/types.ts';

/** The user's choices by field name. */
export type BlueprintValues = Readonly<Record<string, string>>;

/** The value of `{dow}` for each day or group of days. */
export const DAYS_OF_WEEK: Readonly<Record<string, string>> = {
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
  options: ['origin', 'local', 'messenger_a', 'community_chat', 'email'],
  optional: false,
  strict: false,
  help: 'origin is the chat it was set up from, or else the home channel; local only saves it; the name of any connected platform works too.',
};

/** Names that a file may not use for its fields: `deliver` is always added, the others are derived for the schedule. */
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
