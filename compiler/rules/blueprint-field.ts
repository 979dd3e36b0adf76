/** A field of a blueprint that cannot be filled in. */
import type { Rule } from '../diagnostics/rule.ts';

export const blueprintField = {
  id: 'blueprint-field',
  severity: 'error',
  title: "A field's name is taken or reserved, or its options do not fit its type.",
  why: 'Nobody could say in a command or a link which of the two is meant.',
} as const satisfies Rule;
