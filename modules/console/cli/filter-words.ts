/** A filter in words, for people who read what a route does. */
import { printField } from '../../../runtime/table/link-filter.ts';
import type { FilterLeaf, FilterPlan } from '../../../schemas/generated/types.ts';

const TAKES: Readonly<Record<FilterLeaf['operator'], (value: string) => string>> = {
  exists: (value) => (value === 'false' ? 'is missing' : 'exists'),
  missing: (value) => (value === 'false' ? 'exists' : 'is missing'),
  equals: (value) => `is ${value}`,
  not_equals: (value) => `is not ${value}`,
  gt: (value) => `is more than ${value}`,
  gte: (value) => `is ${value} or more`,
  lt: (value) => `is less than ${value}`,
  lte: (value) => `is ${value} or less`,
  contains: (value) => `contains ${value}`,
  starts_with: (value) => `starts with ${value}`,
  in: (value) => `is ${value}`,
  in_file: (value) => `is in the list ${value}`,
  regex: (value) => `matches ${value}`,
};

const valueWords = ({ exact, operator, value }: FilterLeaf): string => {
  if (operator !== 'in' || !Array.isArray(value) || exact !== undefined) return exact ?? JSON.stringify(value);
  return value.length === 0 ? 'nothing' : value.map((each) => JSON.stringify(each)).join(' or ');
};

/** `action is "opened" or "reopened"`. @param isInside it needs brackets where it could be misread */
export function filterWords(plan: FilterPlan, isInside = false): string {
  if (plan.kind === 'leaf') return `${printField(plan.field)} ${TAKES[plan.operator](valueWords(plan))}`;
  if ('where' in plan) {
    const which = plan.kind === 'any_of' ? 'an element' : 'every element';
    return `${which} of ${printField(plan.field)} fits (${filterWords(plan.where)})`;
  }
  const members = plan.filters.map((member) => filterWords(member, plan.filters.length > 1));
  if (plan.kind === 'not') return `not (${members.join(' and ')})`;
  const text = members.join(plan.kind === 'any' ? ' or ' : ' and ');
  return isInside && members.length > 1 ? `(${text})` : text;
}
