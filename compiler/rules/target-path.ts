/** A path that is no path. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetPath = {
  id: 'target-path',
  severity: 'error',
  title: 'The `path` of a request does not start with `/`, or holds a query.',
  why: 'It would be joined to the base URL in a way nobody meant; parameters belong in `query`, where they are escaped.',
} as const satisfies Rule;
