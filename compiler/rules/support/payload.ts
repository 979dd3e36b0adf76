/** The shared check of the rules about payloads: it runs once, and each rule reports its own problems. */

import type { Problem } from '../../diagnostics/problem.ts';
import type { RuleId } from '../../diagnostics/rule.ts';
import type { RouteView } from '../../views/route-scope.ts';

export const payloadProblems = (route: RouteView, rule: RuleId): readonly Problem[] =>
  route.scope.payloads?.problemsOf(route).filter((problem) => problem.rule === rule) ?? [];
