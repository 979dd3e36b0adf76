/** A header where only payload fields resolve. */
import type { Rule } from '../diagnostics/rule.ts';

export const templateHeaders = {
  id: 'template-headers',
  severity: 'warning',
  title: 'A template uses `{headers.…}`.',
  why: 'Templates see the payload, so the placeholder stays in the text. Filters do see headers.',
} as const satisfies Rule;
