/** A target that sends nothing. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetRequest = {
  id: 'target-request',
  severity: 'error',
  title: 'A target, or one of its variants, has no request.',
  why: 'There is no way to deliver to it.',
} as const satisfies Rule;
