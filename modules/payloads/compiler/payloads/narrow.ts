/** Narrows the possible event forms by a route's filters, and reports conditions that no form can meet. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import type { FilterConfig } from '../../../../schemas/generated/types.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { matchAll } from '../shapes/match-filter.ts';
import { matchGroups } from '../shapes/match-leaf.ts';
import type { Member } from '../shapes/read-leaf.ts';
import { membersOf, readLeaf } from '../shapes/read-leaf.ts';
import { checkLeaf } from './check-leaf.ts';
import type { Constraints } from './constraints.ts';
import { addConstraint, findContradiction } from './constraints.ts';

export interface Narrowed {
  /** Null if the possible events are unknown. */
  readonly set: FormSet | null;
  /** Paths are relative to `filters`. */
  readonly problems: readonly Problem[];
}

/** Reports conditions that can never be true, and ignores them when checking the rest. */
export function narrowByFilters(set: FormSet | null, filters: FilterConfig | readonly FilterConfig[]): Narrowed {
  const state: State = { set, constraints: new Map() };
  const problems: Problem[] = [];
  const narrowed = walkAll(membersOf(filters, []), state, problems);
  return { set: narrowed.set, problems };
}

/** What is known when a condition is evaluated. */
interface State {
  readonly set: FormSet | null;
  readonly constraints: Constraints;
}

function walkAll(members: readonly Member[], before: State, problems: Problem[]): State {
  return members.reduce((state, member) => walk(member, state, problems), before);
}

function walk({ config, path }: Member, state: State, problems: Problem[]): State {
  if (config.all !== undefined) return walkAll(membersOf(config.all, [...path, 'all']), state, problems);
  if (config.any !== undefined) return walkAny(membersOf(config.any, [...path, 'any']), state, problems);
  if (config.not !== undefined) return walkNot(membersOf(config.not, [...path, 'not']), state, problems);
  return walkLeaf({ config, path }, state, problems);
}

function walkLeaf({ config, path }: Member, state: State, problems: Problem[]): State {
  const leaf = readLeaf(config, path);
  if (leaf === null) return state;
  const contradiction = findContradiction(state.constraints, leaf);
  if (contradiction !== null) {
    problems.push(contradiction);
    return state;
  }
  const { set } = state;
  const found = set === null ? [] : checkLeaf(set, leaf);
  problems.push(...found);
  const constraints = addConstraint(state.constraints, leaf);
  if (set === null) return { set, constraints };
  const groups = matchGroups(set, leaf);
  const possible = groups.filter(({ match }) => match !== 'never');
  if (possible.length === groups.length) return { set, constraints };
  const indexes = possible.flatMap(({ forms }) => forms).sort((a, b) => a - b);
  return indexes.length === 0 ? state : { set: set.pick(indexes), constraints };
}

/** After `any`, the possible forms are those that remain after at least one member. */
function walkAny(members: readonly Member[], state: State, problems: Problem[]): State {
  const states = members.map((member) => walk(member, state, problems));
  const { set } = state;
  if (set === null || states.length === 0) return state;
  const left = new Set(states.flatMap((each) => each.set?.forms ?? []));
  return { ...state, set: set.pick(indexesOf(set.forms, (form) => left.has(form))) };
}

/** Checks the members by themselves. After `not`, the possible forms are those that the members do not always match. */
function walkNot(members: readonly Member[], state: State, problems: Problem[]): State {
  const { set } = state;
  walkAll(members, { set, constraints: new Map() }, problems);
  if (set === null) return state;
  const matches = matchAll(set, members);
  const possible = indexesOf(matches, (match) => match !== 'always');
  return possible.length === 0 ? state : { ...state, set: set.pick(possible) };
}

function indexesOf<T>(list: readonly T[], keep: (item: T) => boolean): readonly number[] {
  return list.flatMap((item, index) => (keep(item) ? [index] : []));
}
