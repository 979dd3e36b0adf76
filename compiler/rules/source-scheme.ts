/** A signature scheme that could not be verified. */
import type { Rule } from '../diagnostics/rule.ts';

export const sourceScheme = {
  id: 'source-scheme',
  severity: 'error',
  title: 'A source leaves out or contradicts what its primitive needs.',
  why: 'A signature could not be computed, or would not cover what it must cover.',
} as const satisfies Rule;
