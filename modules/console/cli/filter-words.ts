/** A filter in words, for people who read what a route does. */
import { printField } from '../../../runtime/table/link-filter.ts';
import type { FilterPlan } from '../../../schemas/generated/types.ts';
import { requiredText } from '../runtime/filter-text.ts';

/** `action is "opened" or "reopened"`. @param isInside it needs brackets where it could be misread */
export function filterWords(plan: FilterPlan, isInside = false): string {
  if (plan.kind === 'leaf') return `${printField(plan.field)} ${requiredText(plan.operator, plan.value, plan.exact)}`;
  if ('where' in plan) {
    const which = plan.kind === 'any_of' ? 'an element' : 'every element';
    return `${which} of ${printField(plan.field)} fits (${filterWords(plan.where)})`;
  }
  const members = plan.filters.map((member) => filterWords(member, plan.filters.length > 1));
  if (plan.kind === 'not') return `not (${members.join(' and ')})`;
  const text = members.join(plan.kind === 'any' ? ' or ' : ' and ');
  return isInside && members.length > 1 ? `(${text})` : text;
}
