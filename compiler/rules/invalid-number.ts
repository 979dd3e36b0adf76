/** A number out of range. */
import type { ListedRule } from './support/listed-rule.ts';

export const invalidNumber = {
  id: 'invalid-number',
  group: 'shape',
  severity: 'error',
  title: 'A number is too small, too large, or not whole where a whole one is needed.',
  why: 'A limit of zero or less would refuse everything or wait for ever.',
  decidedIn: 'schema/explain.ts',
} as const satisfies ListedRule;
