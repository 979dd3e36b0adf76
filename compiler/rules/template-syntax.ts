/** A placeholder that is none. */
import type { Rule } from '../diagnostics/rule.ts';

export const templateSyntax = {
  id: 'template-syntax',
  severity: 'error',
  title: 'A template holds braces that look like a placeholder and would stay in the text.',
  why: 'The slip would show up in the first real message: `{ issue.title }` is delivered as it stands.',
} as const satisfies Rule;
