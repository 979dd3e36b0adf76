/** Reads one field of an output, by its kind. */
import type { ContentField, ContentValue } from '../../../schemas/generated/types.ts';

/** Most entries of a list. */
const MAX_ENTRIES = 100;

/** `value` is null for a field that is not there and not required. */
export type ReadField = { readonly value: ContentValue | null } | { readonly wrong: string };

type Member = string | number;

export const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isFilled = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** @param redact replaces secrets in each text */
export function readField(value: unknown, field: ContentField, redact: (text: string) => string): ReadField {
  if (value === undefined || value === null) {
    return field.required ? { wrong: 'is missing' } : { value: null };
  }
  return KINDS[field.kind](value, field, redact);
}

type Read = (value: unknown, field: ContentField, redact: (text: string) => string) => ReadField;

/** What starts a new line in some program or other. */
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;

const KINDS: Readonly<Record<ContentField['kind'], Read>> = {
  text: (value, _field, redact) =>
    isFilled(value) ? { value: redact(value) } : { wrong: 'must be a text that is not empty' },
  line: (value, _field, redact) =>
    isFilled(value) && !LINE_BREAK.test(value) ? { value: redact(value) } : { wrong: 'must be a text of one line' },
  list: (value, _field, redact) =>
    isList(value) && value.every(isFilled)
      ? { value: value.map(redact) }
      : { wrong: `must be a list of 1 to ${MAX_ENTRIES} texts` },
  objects: (value, { members = [] }, redact) => {
    const wrong = {
      wrong: `must be a list of 1 to ${MAX_ENTRIES} objects with ${members.map(({ name }) => name).join(', ')}`,
    };
    if (!isList(value)) return wrong;
    const read = value.map((each) => (isPlainObject(each) ? readMembers(each, members, redact) : null));
    return read.every((each) => each !== null) ? { value: read } : wrong;
  },
};

const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > 0 && value.length <= MAX_ENTRIES;

function readMembers(
  value: Readonly<Record<string, unknown>>,
  members: NonNullable<ContentField['members']>,
  redact: (text: string) => string,
): Record<string, Member> | null {
  const read: Record<string, Member> = {};
  for (const { name, kind } of members) {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (kind !== 'integer' && isFilled(member)) read[name] = redact(member);
    else if (kind === 'integer' && Number.isSafeInteger(member)) read[name] = member as number;
    else return null;
  }
  return read;
}

/** The first value that one of the lists does not have; null: there is none. */
export function unlistedValue(value: ContentValue, lists: readonly (readonly string[])[]): unknown {
  if (lists.length === 0) return null;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.find((each) => typeof each !== 'string' || lists.some((list) => !list.includes(each))) ?? null;
}
