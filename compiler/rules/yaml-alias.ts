/** Aliases that cannot be followed. */
import type { ListedRule } from './support/listed-rule.ts';

export const yamlAlias = {
  id: 'yaml-alias',
  group: 'reading',
  severity: 'error',
  title: 'An alias has no anchor, contains itself, or expands the file beyond all measure.',
  why: 'A few lines of nested aliases can stand for billions of values; reading them would take the machine down.',
  decidedIn: 'source/build-value.ts',
} as const satisfies ListedRule;
