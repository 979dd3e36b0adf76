/** A number out of range. */
import type { ListedRule } from './support/listed-rule.ts';

export const invalidNumber = {
  id: 'invalid-number',
  group: 'shape',
  severity: 'error',
  title: 'A number is too small, too large, or not an integer where one is required.',
  why: 'A limit of zero or less would reject everything or wait forever.',
  decidedIn: 'schema/explain.ts',
} as const satisfies ListedRule;
