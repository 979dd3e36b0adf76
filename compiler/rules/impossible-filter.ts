/** A condition that no event of the route can meet. */

import type { Problem } from '../diagnostics/problem.ts';
import { payloadProblems } from './support/payload.ts';
import type { ViewRule } from './support/view-rule.ts';

export const impossibleFilter = {
  id: 'impossible-filter',
  group: 'templates',
  severity: 'warning',
  title: 'A filter compares a field with a value it never has, or contradicts the filters before it.',
  why: 'The route stays silent, or the condition has no effect. Which values a field may have is known where it is certain which events come (see `unknown-payload-path`); conditions that contradict each other are found everywhere.',
  checkRoute: (route): readonly Problem[] => payloadProblems(route, impossibleFilter),
  decidedIn: 'payloads/explain-operand.ts',
} as const satisfies ViewRule;
