/** What the rules about payloads share: the check is one, each of them reports its part. */

import type { Problem } from '../../diagnostics/problem.ts';
import type { RouteView } from '../../routes/route-scope.ts';
import type { Rule } from './rule.ts';

export const payloadProblems = (route: RouteView, rule: Rule): readonly Problem[] =>
  route.scope.payloads?.problemsOf(route).filter((problem) => problem.rule === rule) ?? [];
