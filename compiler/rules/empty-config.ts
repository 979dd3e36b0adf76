/** A config file that says nothing. */
import type { Rule } from '../diagnostics/rule.ts';

export const emptyConfig = {
  id: 'empty-config',
  severity: 'warning',
  title: 'The config file is empty, or holds only comments.',
  why: 'It is valid, and nothing is served: no route, no job. The file that was meant may be another one.',
} as const satisfies Rule;
