/** A target that is switched on without its credentials. */
import type { Rule } from '../diagnostics/rule.ts';

export const missingSetting = {
  id: 'missing-setting',
  severity: 'warning',
  title: 'An enabled target lacks a setting it cannot deliver without.',
  why: 'Every delivery to it fails.',
} as const satisfies Rule;
