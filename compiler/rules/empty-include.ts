/** An include that finds nothing. */
import type { Rule } from '../diagnostics/rule.ts';

export const emptyInclude = {
  id: 'empty-include',
  severity: 'warning',
  title: 'A glob under `include` matches no file.',
  why: 'A moved folder or a typo would silently drop every route in it.',
} as const satisfies Rule;
