/** A condition that no event of the route can meet. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { payloadProblems } from '../../../../compiler/rules/support/payload.ts';
import type { ViewRule } from '../../../../compiler/rules/support/view-rule.ts';

export const impossibleFilter = {
  id: 'impossible-filter',
  checkRoute: (route): readonly Problem[] => payloadProblems(route, 'impossible-filter'),
} as const satisfies ViewRule;
