/** Decides whether combined conditions can match each event form. */
import type { FormSet } from './form-set.ts';
import { matchLeaf } from './match-leaf.ts';
import type { LeafMatch } from './operators.ts';
import { negated } from './operators.ts';
import type { Member } from './read-leaf.ts';
import { membersOf, readLeaf } from './read-leaf.ts';

/** Returns a result for each form, in order. */
export function matchAll(set: FormSet, members: readonly Member[]): readonly LeafMatch[] {
  const all = members.map((member) => matchMember(set, member));
  return set.forms.map((_, index) => allOf(all.map((matches) => matches[index] ?? 'sometimes')));
}

function matchMember(set: FormSet, { config, path }: Member): readonly LeafMatch[] {
  if (config.all !== undefined) return matchAll(set, membersOf(config.all, path));
  if (config.not !== undefined) return matchAll(set, membersOf(config.not, path)).map(negated);
  if (config.any !== undefined) {
    const any = membersOf(config.any, path).map((member) => matchMember(set, member));
    // De Morgan: any(a, b) = not all(not a, not b).
    return set.forms.map((_, index) => negated(allOf(any.map((matches) => negated(matches[index] ?? 'sometimes')))));
  }
  const leaf = readLeaf(config, path);
  return leaf === null ? set.forms.map(() => 'sometimes') : matchLeaf(set, leaf);
}

function allOf(matches: readonly LeafMatch[]): LeafMatch {
  if (matches.includes('never')) return 'never';
  return matches.every((match) => match === 'always') ? 'always' : 'sometimes';
}
