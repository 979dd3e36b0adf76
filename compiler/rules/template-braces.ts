/** Braces doubled as in other template languages. */
import type { Rule } from '../diagnostics/rule.ts';

export const templateBraces = {
  id: 'template-braces',
  severity: 'warning',
  title: 'A placeholder is written with two pairs of braces.',
  why: 'One pair is enough; the other one stays in the text.',
} as const satisfies Rule;
