/** A filter in words, for people who read what a route does. */
import { printField } from '../../../runtime/table/link-filter.ts';
import type { FilterLeaf, FilterPlan } from '../../../schemas/generated/types.ts';

/** Other operators are the words that they look like. */
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

function leafWords({ field, operator, value, exact }: FilterLeaf): string {
  const name = printField(field);
  if (operator === 'exists' || operator === 'missing')
    return `${name} ${(operator === 'exists') === (value !== false) ? 'exists' : 'is missing'}`;
  const isList = operator === 'in' && Array.isArray(value) && value.length > 0 && exact === undefined;
  const text = isList ? value.map((each) => JSON.stringify(each)).join(' or ') : (exact ?? JSON.stringify(value));
  return `${name} ${WORDS[operator] ?? operator.replace('_', ' ')} ${text}`;
}

/** `action is "opened" or "reopened"`. @param isInside it needs brackets where it could be misread */
export function filterWords(plan: FilterPlan, isInside = false): string {
  if (plan.kind === 'leaf') return leafWords(plan);
  if ('where' in plan) {
    const which = plan.kind === 'any_of' ? 'an element' : 'every element';
    return `${which} of ${printField(plan.field)} fits (${filterWords(plan.where)})`;
  }
  const members = plan.filters.map((member) => filterWords(member, plan.filters.length > 1));
  if (plan.kind === 'not') return `not (${members.join(' and ')})`;
  const text = members.join(plan.kind === 'any' ? ' or ' : ' and ');
  return isInside && members.length > 1 ? `(${text})` : text;
}
