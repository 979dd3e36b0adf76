/** A missing required key. */
import type { ListedRule } from './support/listed-rule.ts';

export const missingKey = {
  id: 'missing-key',
  group: 'shape',
  severity: 'error',
  title: 'An entry lacks a required key.',
  why: 'There is no sensible default for it.',
  decidedIn: 'schema/key-problems.ts',
} as const satisfies ListedRule;
