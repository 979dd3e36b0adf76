/** A target that is code and data at once. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetDriver = {
  id: 'target-driver',
  severity: 'error',
  title: 'A target with a driver of its own also says how its requests are made.',
  why: 'The driver would not read it.',
} as const satisfies Rule;
