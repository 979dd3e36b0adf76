/** A value that is not there when it is needed. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetValue = {
  id: 'target-value',
  severity: 'error',
  title: 'A text of a target names a value that does not exist, or that has no place in it.',
  why: "The request would be sent with a hole in it, or a stranger's text would end up where only the operator's belongs.",
} as const satisfies Rule;
