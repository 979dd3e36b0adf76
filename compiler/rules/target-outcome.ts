/** An outcome that cannot come to pass. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetOutcome = {
  id: 'target-outcome',
  severity: 'error',
  title: 'An outcome is `refresh`, and the target has no `exchange` to get a new token from.',
  why: 'The delivery would be given up in a way nobody wrote down.',
} as const satisfies Rule;
