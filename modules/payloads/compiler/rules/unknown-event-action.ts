/** An action that the events of the route do not have. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { payloadProblems } from '../../../../compiler/rules/support/payload.ts';
import type { ViewRule } from '../../../../compiler/rules/support/view-rule.ts';

export const unknownEventAction = {
  id: 'unknown-event-action',
  group: 'templates',
  severity: 'warning',
  title: 'A filter expects an action that the events of the route do not have.',
  why: "Actions are compared exactly, so the filter would reject every event. Checked only if the route's events are known (see `unknown-payload-path`).",
  checkRoute: (route): readonly Problem[] => payloadProblems(route, unknownEventAction),
  decidedIn: 'payloads/explain-operand.ts',
} as const satisfies ViewRule;
