/** Whether filters hold only where a certain condition does. */
import type { FilterConfig } from '../../schemas/generated/types.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { matchAll } from '../shapes/match-filter.ts';
import type { Member, WrittenLeaf } from '../shapes/read-leaf.ts';
import { membersOf, readLeaf } from '../shapes/read-leaf.ts';

export type Filters = FilterConfig | readonly FilterConfig[];

/** Whether a condition, or (`negated`) that it does not hold, is what is asked for. */
export type IsEnough = (leaf: WrittenLeaf, negated: boolean) => boolean;

/**
 * Of `all` one member has to be enough, of `any` every one that can hold.
 *
 * @param forms the forms that may come; null: not known, every member can hold
 */
export const requires = (filters: Filters, forms: FormSet | null, isEnough: IsEnough): boolean =>
  membersOf(filters, []).some((member) => holdsOnlyIf(member, false, { forms, isEnough }));

interface Context {
  readonly forms: FormSet | null;
  readonly isEnough: IsEnough;
}

function holdsOnlyIf(member: Member, negated: boolean, context: Context): boolean {
  const { all, any, not } = member.config;
  const isEnough = (each: Member): boolean => holdsOnlyIf(each, negated, context);
  if (not !== undefined) return joined(membersOf(not, []), !negated, (each) => holdsOnlyIf(each, !negated, context));
  if (all !== undefined) return joined(membersOf(all, []), negated, isEnough);
  if (any !== undefined) {
    const members = membersOf(any, []);
    return joined(negated ? members : members.filter((each) => canHold(each, context)), !negated, isEnough);
  }
  const leaf = readLeaf(member.config, []);
  return leaf !== null && context.isEnough(leaf, negated);
}

/** @param alternatives each of them alone lets an event through */
function joined(members: readonly Member[], alternatives: boolean, isEnough: (member: Member) => boolean): boolean {
  return alternatives ? members.length > 0 && members.every(isEnough) : members.some(isEnough);
}

const canHold = (member: Member, { forms }: Context): boolean =>
  forms === null || matchAll(forms, [member]).some((match) => match !== 'never');
