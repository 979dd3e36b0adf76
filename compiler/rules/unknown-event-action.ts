/** An action that the events of the route do not have. */

import type { Problem } from '../diagnostics/problem.ts';
import { payloadProblems } from './support/payload.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unknownEventAction = {
  id: 'unknown-event-action',
  group: 'templates',
  severity: 'warning',
  title: 'A filter waits for an action that the events of the route do not have.',
  why: 'Actions are compared letter by letter: one the sender never sends keeps the route silent. Checked where it is certain which events come (see `unknown-payload-path`).',
  checkRoute: (route): readonly Problem[] => payloadProblems(route, unknownEventAction),
  decidedIn: 'payloads/explain-operand.ts',
} as const satisfies ViewRule;
