/** A variant that needs what does not exist. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetNeeds = {
  id: 'target-needs',
  severity: 'error',
  title: '`needs` of a variant names no setting of the target.',
  why: 'The variant could never be chosen.',
} as const satisfies Rule;
