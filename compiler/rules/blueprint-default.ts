/** A default that the field itself would refuse. */
import type { Rule } from '../diagnostics/rule.ts';

export const blueprintDefault = {
  id: 'blueprint-default',
  severity: 'error',
  title: "The default of a blueprint's field is not among its options, or is no time.",
  why: 'The blueprint could not be used as it is offered.',
} as const satisfies Rule;
