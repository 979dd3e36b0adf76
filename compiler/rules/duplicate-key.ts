/** A key that is set twice in one map. */
import type { Rule } from '../diagnostics/rule.ts';

export const duplicateKey = {
  id: 'duplicate-key',
  severity: 'error',
  title: 'A map holds the same key twice.',
  why: 'YAML readers disagree about which of the two counts.',
} as const satisfies Rule;
