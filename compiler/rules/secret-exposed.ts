/** A literal secret that others on the machine can read. */
import type { Rule } from '../diagnostics/rule.ts';

export const secretExposed = {
  id: 'secret-exposed',
  severity: 'warning',
  title: 'A file that other users may read holds a literal secret.',
  why: 'Every account on the machine could sign requests or use the credentials.',
} as const satisfies Rule;
