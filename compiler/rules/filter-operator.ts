/** Not exactly one operator (§2.2). */
import type { Rule } from '../diagnostics/rule.ts';

export const filterOperator = {
  id: 'filter-operator',
  severity: 'error',
  title: 'A filter on a field has no operator or more than one.',
  why: 'Whether all of them or any of them must hold is what `all` and `any` are for.',
} as const satisfies Rule;
