/** A field path that cannot be one. */
import type { Rule } from '../diagnostics/rule.ts';

export const filterField = {
  id: 'filter-field',
  severity: 'error',
  title: 'The `field` of a filter has an empty part or names nothing.',
  why: 'It would never be found in a payload, and the filter would decide the same way for every event.',
} as const satisfies Rule;
