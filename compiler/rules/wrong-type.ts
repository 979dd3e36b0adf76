/** A value of the wrong type. */
import type { ListedRule } from './support/listed-rule.ts';

export const wrongType = {
  id: 'wrong-type',
  group: 'shape',
  severity: 'error',
  title: 'A value is text where a list is expected, a list where a map is expected, and so on.',
  why: 'Converting the value automatically would sometimes be wrong.',
  decidedIn: 'schema/explain.ts',
} as const satisfies ListedRule;
