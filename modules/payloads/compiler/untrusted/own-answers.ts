/** Decides whether a route's filters reject the events that its own deliveries cause. */
import type { TargetEffect } from '../../../../schemas/generated/types.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { listedValues } from '../shapes/match-leaf.ts';
import { factsOf } from '../shapes/operators.ts';
import type { WrittenLeaf } from '../shapes/read-leaf.ts';
import type { Filters } from './requires.ts';
import { requires } from './requires.ts';

/**
 * @param forms event forms that the delivery causes; null if unknown
 * @param place channel or repository that the delivery goes to; null if unknown at compile time
 */
export function rejectsOwnEvents(
  filters: Filters,
  forms: FormSet | null,
  effect: TargetEffect,
  place: string | null,
): boolean {
  return requires(filters, forms, (leaf, negated) => {
    if (leaf.field.in === 'header') return false;
    const path = leaf.field.path.join('.');
    if (isBelow(path, effect.absent ?? [])) return !holds(leaf, null, negated);
    if (path === effect.place?.field) return place !== null && isElsewhere(leaf, negated, place);
    const mark = effect.marks?.[path];
    if (mark !== undefined) return !holds(leaf, mark, negated);
    if (effect.author.includes(path)) return isOthers(leaf, negated);
    return !negated && effect.text.includes(path) && beginsOtherwise(leaf);
  });
}

const isBelow = (path: string, fields: readonly string[]): boolean =>
  fields.some((field) => path === field || path.startsWith(`${field}.`));

/** @param found value of the field; null if absent */
function holds({ operator, value }: WrittenLeaf, found: string | null, negated: boolean): boolean {
  return factsOf(operator).holds(value, found) !== negated;
}

/** Whether the condition accepts only other channels or repositories. Names are not compared with ids. */
function isElsewhere(leaf: WrittenLeaf, negated: boolean, place: string): boolean {
  const values = listedValues(leaf, negated) ?? [];
  const isName = (text: string): boolean => /^[#@]/.test(text);
  return values.length > 0 && values.map(String).every((each) => each !== place && isName(each) === isName(place));
}

/** The config does not say which account posts deliveries. A list of bots is assumed to include it, a list of people is not. */
function isOthers(leaf: WrittenLeaf, negated: boolean): boolean {
  if (leaf.operator === 'exists' || leaf.operator === 'missing') return !holds(leaf, 'somebody', negated);
  const isPositive = negated === (leaf.operator === 'not_equals');
  const listed = isPositive ? (listedValues(leaf, negated) ?? []) : [];
  return !listed.some((each) => BOT.test(String(each)));
}

/** Account names of bots, except two public bots that cannot be the user's own. */
const BOT = /^(?!dependabot|renovate).*(?:bot|\[bot\])$/i;

/** Whether the condition tests the whole text or its start, which differs in an answer that quotes it. */
const beginsOtherwise = ({ operator, value }: WrittenLeaf): boolean => factsOf(operator).fixesStart(value);
