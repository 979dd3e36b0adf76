/** What filters require, in words. It is also part of the pages. */
import type { ExplainedFilter } from '../../../schemas/generated/types.ts';

/** What a field is or does that meets a condition, by its operator; `*` is the expected value. */
const REQUIRED: Readonly<Record<string, string>> = {
  missing: 'is missing',
  equals: 'is *',
  not_equals: 'is not *',
  gt: 'is more than *',
  gte: 'is * or more',
  lt: 'is less than *',
  lte: 'is * or less',
  contains: 'contains *',
  starts_with: 'starts with *',
  in: 'is *',
  in_file: 'is in the list *',
  regex: 'matches *',
  any_of: 'has an element that fits',
  all_of: 'has only elements that fit',
};

/** `is "opened" or "reopened"`. @param expected the value of the filter @param exact its text, if a number would be rounded */
export function requiredText(operator: string, expected: unknown, exact?: string): string {
  if (operator === 'exists') return expected === true ? 'exists' : 'is missing';
  const isList = operator === 'in' && Array.isArray(expected);
  const value = isList ? expected.map(written).join(' or ') || 'nothing' : written(expected);
  return (REQUIRED[operator] ?? operator).replace('*', () => exact ?? value);
}

/** `action is "edited"; the filter requires that it is "opened" or "reopened"`. @param isBarred inside of `not` */
export function findingText({ operator, field, expected, found, missing }: ExplainedFilter, isBarred = false): string {
  const decides = isBarred ? 'rejects what' : 'requires that it';
  const required = cut(requiredText(operator, expected));
  return `${field} is ${missing ? 'missing' : cut(written(found))}; the filter ${decides} ${required}`;
}

/** Why a filter does not hold: its first condition that decided this, and the number of others. */
export function unmetText(of: ExplainedFilter): string {
  const [first, ...others] = decidingOf(of);
  if (first === undefined) return 'the filter does not match';
  const more = others.length === 0 ? '' : ` (and ${others.length} more condition${others.length === 1 ? '' : 's'})`;
  return findingText(first, first.holds) + more;
}

/** The conditions that decided the result of a filter. Inside `not`, these are the ones that hold. */
function decidingOf(of: ExplainedFilter): readonly ExplainedFilter[] {
  if (of.field !== null) return [of];
  const holds = of.holds !== (of.operator === 'not');
  return of.of.filter((member) => member.holds === holds).flatMap(decidingOf);
}

/** Most characters of a value. */
const LONGEST = 200;

const written = (value: unknown): string => JSON.stringify(value) ?? 'null';
const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
