/** A key that nothing reads. */
import type { ListedRule } from './support/listed-rule.ts';

export const unknownKey = {
  id: 'unknown-key',
  group: 'shape',
  severity: 'error',
  title: 'A key is not known in this place.',
  why: 'A misspelt key would be ignored, and the default would be in force without a word.',
  decidedIn: 'schema/explain.ts',
} as const satisfies ListedRule;
