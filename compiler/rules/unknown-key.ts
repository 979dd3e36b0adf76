/** A key that nothing reads. */
import type { Rule } from '../diagnostics/rule.ts';

export const unknownKey = {
  id: 'unknown-key',
  severity: 'error',
  title: 'A key is not known in this place.',
  why: 'A misspelt key would be ignored, and the default would be in force without a word.',
  decidedIn: 'schema/explain.ts',
} as const satisfies Rule;
