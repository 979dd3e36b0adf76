/** Defines and applies rules. */

import { DEFAULT_PROFILE } from '../../../base/names.ts';
import type { Problem } from '../../diagnostics/diagnostic.ts';
import type { RuleId } from '../../diagnostics/rule.ts';
import type { Checks, RouteView, ViewRule, Views } from '../../views/views.ts';

/** A rule that checks a route, a job or a part of the config. `<id>.yaml` has its texts. */
export const rule = (id: RuleId, checks: Checks): ViewRule => ({ id, checks });

/** Returns the problems that the rules report about one route, job, agent, profile or config. */
export function applyRules<Kind extends keyof Views>(
  rules: readonly ViewRule[],
  kind: Kind,
  view: Views[Kind],
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const { id, checks } of rules) checks[kind]?.(view, (problem) => problems.push({ rule: id, ...problem }));
  return problems;
}

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** Uses the largest unit that gives a multiple of one half: `3 days`, `1.5 hours`, `90 seconds`. */
export function printDuration(seconds: number): string {
  const [size, name] = UNITS.find(([unit]) => seconds >= unit && Number.isInteger((seconds / unit) * 2)) ?? [
    1,
    'second',
  ];
  const count = Math.round((seconds / size) * 100) / 100;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** Missing parts of such a route are errors (`profile-incomplete`) and not warnings of other rules. */
export const hasOwnProfile = ({ profile }: RouteView): boolean => profile !== DEFAULT_PROFILE;
