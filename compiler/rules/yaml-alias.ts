/** An alias that cannot be resolved. */
import type { ListedRule } from './support/listed-rule.ts';

export const yamlAlias = {
  id: 'yaml-alias',
  group: 'reading',
  severity: 'error',
  title: 'An alias has no anchor, contains itself, or expands the file excessively.',
  why: "A few lines of nested aliases can expand to billions of values and exhaust the machine's memory.",
  decidedIn: 'source/build-value.ts',
} as const satisfies ListedRule;
