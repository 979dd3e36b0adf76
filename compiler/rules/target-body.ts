/** A word in a body that means nothing. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetBody = {
  id: 'target-body',
  severity: 'error',
  title: 'The body of a request holds a key with `$` that is no instruction.',
  why: 'It would be sent to the service as it stands.',
} as const satisfies Rule;
