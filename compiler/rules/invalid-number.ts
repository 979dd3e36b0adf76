/** A number out of range. */
import type { Rule } from '../diagnostics/rule.ts';

export const invalidNumber = {
  id: 'invalid-number',
  severity: 'error',
  title: 'A number is too small, too large, or not whole where a whole one is needed.',
  why: 'A limit of zero or less would refuse everything or wait for ever.',
  decidedIn: 'schema/explain.ts',
} as const satisfies Rule;
