/** Decides whether filters match only if some given condition matches. */
import type { FilterConfig } from '../../../../schemas/generated/types.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { matchAll } from '../shapes/match-filter.ts';
import type { Member, WrittenLeaf } from '../shapes/read-leaf.ts';
import { membersOf, readLeaf } from '../shapes/read-leaf.ts';

export type Filters = FilterConfig | readonly FilterConfig[];

/** Whether a condition, or its negation if `negated`, is sufficient. */
export type IsEnough = (leaf: WrittenLeaf, negated: boolean) => boolean;

/**
 * One member of `all` has to be sufficient; of `any`, every member that can match.
 *
 * @param forms the possible event forms; null if unknown, so that every member can match
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

/** @param alternatives whether an event needs to match only one of the members */
function joined(members: readonly Member[], alternatives: boolean, isEnough: (member: Member) => boolean): boolean {
  return alternatives ? members.length > 0 && members.every(isEnough) : members.some(isEnough);
}

const canHold = (member: Member, { forms }: Context): boolean =>
  forms === null || matchAll(forms, [member]).some((match) => match !== 'never');
