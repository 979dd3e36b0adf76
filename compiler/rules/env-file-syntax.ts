/** A line of an env file that sets nothing. */
import type { Rule } from '../diagnostics/rule.ts';

export const envFileSyntax = {
  id: 'env-file-syntax',
  severity: 'warning',
  title: 'A line in `<home_dir>/.env` is not `KEY=value`.',
  why: 'A secret on that line would be missing when the server starts.',
} as const satisfies Rule;
