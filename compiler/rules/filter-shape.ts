/** A filter that is neither a leaf nor a group (§2.2). */
import type { Rule } from '../diagnostics/rule.ts';

export const filterShape = {
  id: 'filter-shape',
  severity: 'error',
  title: 'A filter has no `field`, or mixes a group with other keys.',
  why: 'It is not clear what must hold.',
} as const satisfies Rule;
