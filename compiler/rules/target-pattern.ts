/** A pattern outside the linear-time engine. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetPattern = {
  id: 'target-pattern',
  severity: 'error',
  title: 'A pattern of a target is not an RE2 expression.',
  why: 'Addresses come from payloads: a crafted one must not keep the server busy.',
} as const satisfies Rule;
