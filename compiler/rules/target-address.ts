/** An address field with a name that is taken. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetAddress = {
  id: 'target-address',
  severity: 'error',
  title: "A field of a target's address has the name of a setting or of a value of the delivery.",
  why: 'A template could not say which of the two it means.',
} as const satisfies Rule;
