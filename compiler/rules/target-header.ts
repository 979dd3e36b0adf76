/** A header that cannot be sent. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetHeader = {
  id: 'target-header',
  severity: 'error',
  title: 'A request of a target names a header that is none, or one that the executor sets itself.',
  why: 'The request would be refused before it leaves the machine.',
} as const satisfies Rule;
