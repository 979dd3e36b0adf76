/** A path into the payload that no event of the route has. */

import type { Problem } from '../../../../compiler/diagnostics/problem.ts';
import { payloadProblems } from '../../../../compiler/rules/support/payload.ts';
import type { ViewRule } from '../../../../compiler/rules/support/view-rule.ts';

export const unknownPayloadPath = {
  id: 'unknown-payload-path',
  checkRoute: (route): readonly Problem[] => payloadProblems(route, 'unknown-payload-path'),
} as const satisfies ViewRule;
