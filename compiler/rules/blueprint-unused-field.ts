/** A question whose answer changes nothing. */
import type { Rule } from '../diagnostics/rule.ts';

export const blueprintUnusedField = {
  id: 'blueprint-unused-field',
  severity: 'warning',
  title: 'A field of a blueprint is used neither in its schedule nor in its prompt.',
  why: 'The user is asked for something that has no effect.',
} as const satisfies Rule;
