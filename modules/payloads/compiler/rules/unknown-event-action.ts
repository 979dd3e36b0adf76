/** An action that the events of the route do not have. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { payloadProblems } from '../../../../compiler/rules/support/payload.ts';
import type { ViewRule } from '../../../../compiler/rules/support/view-rule.ts';

export const unknownEventAction = {
  id: 'unknown-event-action',
  checkRoute: (route): readonly Problem[] => payloadProblems(route, 'unknown-event-action'),
} as const satisfies ViewRule;
