/** An unknown key. */
import type { ListedRule } from './support/listed-rule.ts';

export const unknownKey = {
  id: 'unknown-key',
  group: 'shape',
  severity: 'error',
  title: 'A key is unknown here.',
  why: 'A misspelt key would be ignored, and the default would be used silently.',
  decidedIn: 'schema/key-problems.ts',
} as const satisfies ListedRule;
