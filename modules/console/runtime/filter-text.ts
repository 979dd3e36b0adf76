/** What filters require, in words. It is also part of the pages. */
import type { ExplainedFilter } from '../../../schemas/generated/types.ts';

/** Other operators are the words that they look like: `starts with`. */
const WORDS: Readonly<Record<string, string>> = {
  equals: 'is',
  not_equals: 'is not',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  in: 'is',
  in_file: 'is in the list',
  regex: 'matches',
};

/** `is "opened" or "reopened"`. @param expected the value of the filter @param exact its text, if a number would be rounded */
export function requiredText(operator: string, expected: unknown, exact?: string): string {
  if (operator === 'exists' || operator === 'missing')
    return (operator === 'exists') === (expected !== false) ? 'exists' : 'is missing';
  if (operator === 'any_of') return 'has an element that fits';
  if (operator === 'all_of') return 'has only elements that fit';
  const isList = operator === 'in' && Array.isArray(expected) && expected.length > 0 && exact === undefined;
  const value = isList ? expected.map(written).join(' or ') : (exact ?? written(expected));
  return `${WORDS[operator] ?? operator.replace('_', ' ')} ${value}`;
}

/** `action is "opened" or "reopened"`. */
export const conditionText = ({ operator, field, expected }: ExplainedFilter): string =>
  `${field} ${cut(requiredText(operator, expected))}`;

/** What a condition was compared with. */
export const foundText = ({ found, missing }: ExplainedFilter): string => (missing ? 'missing' : cut(written(found)));

/** `action is "edited"; the filter requires that it is "opened" or "reopened"`. @param isBarred inside of `not` */
function findingText(of: ExplainedFilter, isBarred: boolean): string {
  const decides = isBarred ? 'rejects what' : 'requires that it';
  return `${of.field} is ${foundText(of)}; the filter ${decides} ${cut(requiredText(of.operator, of.expected))}`;
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
