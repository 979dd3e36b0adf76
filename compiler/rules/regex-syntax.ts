/** A regex outside the linear-time engine (§2.2). */
import type { Rule } from '../diagnostics/rule.ts';

export const regexSyntax = {
  id: 'regex-syntax',
  severity: 'error',
  title: 'A `regex` is not valid RE2.',
  why: 'Payloads are hostile: with back-references or lookaround a single crafted value can keep the server busy for hours.',
} as const satisfies Rule;
