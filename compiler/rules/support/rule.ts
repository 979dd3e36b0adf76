/** How a rule is written, and how rules are applied. */
import type { Problem } from '../../diagnostics/problem.ts';
import type { RuleId } from '../../diagnostics/rule.ts';
import type { Checks, ViewRule, Views } from '../../views/views.ts';

/** A rule that looks at a route, a job or a part of the config. `<id>.yaml` says what it is about. */
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
