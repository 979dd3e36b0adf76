/** A path into the payload that no event of the route has. */

import type { Problem } from '../diagnostics/problem.ts';
import { payloadProblems } from './support/payload.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unknownPayloadPath = {
  id: 'unknown-payload-path',
  group: 'templates',
  severity: 'warning',
  title: 'A template, filter, key or address names a path that no event of the route has.',
  why: 'A placeholder without a value stays in the text as it is written, and a filter on such a field decides the same way for every event. Checked where it is certain which events come: `source` is set, or `events` names events that only one sender has; never behind a `script`, which may replace the payload.',
  checkRoute: (route): readonly Problem[] => payloadProblems(route, unknownPayloadPath),
  decidedIn: 'payloads/unknown-path.ts',
} as const satisfies ViewRule;
