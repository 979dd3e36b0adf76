/** A coalesce key that is the same for every event (§2.3). */
import type { Rule } from '../diagnostics/rule.ts';

export const coalesceKey = {
  id: 'coalesce-key',
  severity: 'error',
  title: 'The key of `coalesce` is fixed text.',
  why: 'All events of the route would count as one entity, and all but the last would be dropped.',
} as const satisfies Rule;
