/** A number that is not the text its author wrote. */
import type { Rule } from '../diagnostics/rule.ts';

export const lostDigits = {
  id: 'lost-digits',
  severity: 'warning',
  title: 'An address is written as a number that loses digits.',
  why: 'YAML reads `1712345678.123450` as a number and drops the last zero: the message would go to another thread, or to none.',
} as const satisfies Rule;
