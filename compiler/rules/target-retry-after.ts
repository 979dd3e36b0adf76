/** A waiting time that cannot be found. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetRetryAfter = {
  id: 'target-retry-after',
  severity: 'error',
  title: 'A place under `retry_after` names no place, several, or an expression without a group around the number.',
  why: 'The target would be asked again too early, and block the account.',
} as const satisfies Rule;
