/** A condition that no event of the route can meet. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { payloadProblems } from '../../../../compiler/rules/support/payload.ts';
import type { ViewRule } from '../../../../compiler/rules/support/view-rule.ts';

export const impossibleFilter = {
  id: 'impossible-filter',
  group: 'templates',
  severity: 'warning',
  title: 'A filter compares a field with a value that it never has, or contradicts the filters before it.',
  why: "The route accepts no events, or the condition has no effect. The possible values of a field are known only if the route's events are (see `unknown-payload-path`); contradictions between conditions are always found.",
  checkRoute: (route): readonly Problem[] => payloadProblems(route, impossibleFilter),
  decidedIn: 'payloads/explain-operand.ts',
} as const satisfies ViewRule;
