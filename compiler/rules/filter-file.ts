/** An `in_file` that names no file. */
import type { Rule } from '../diagnostics/rule.ts';

export const filterFile = {
  id: 'filter-file',
  severity: 'error',
  title: "The path of an `in_file` is a folder or another user's home.",
  why: 'The list could never be read.',
} as const satisfies Rule;
