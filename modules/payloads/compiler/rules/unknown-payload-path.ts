/** A path into the payload that no event of the route has. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { payloadProblems } from '../../../../compiler/rules/support/payload.ts';
import type { ViewRule } from '../../../../compiler/rules/support/view-rule.ts';

export const unknownPayloadPath = {
  id: 'unknown-payload-path',
  group: 'templates',
  severity: 'warning',
  title: 'A template, filter, key or address names a path that no event of the route has.',
  why: "A placeholder without a value is delivered literally, and a filter on such a field gives the same result for every event. Checked only if the route's events are known: `source` is set, or `events` names events that only one sender has. Not checked if the route has a `script`, which may replace the payload.",
  checkRoute: (route): readonly Problem[] => payloadProblems(route, unknownPayloadPath),
  decidedIn: 'payloads/unknown-path.ts',
} as const satisfies ViewRule;
