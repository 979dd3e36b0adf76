/** A schedule that some choice of options breaks (§2.8). */
import type { Rule } from '../diagnostics/rule.ts';

export const blueprintSchedule = {
  id: 'blueprint-schedule',
  severity: 'error',
  title:
    "A combination of a blueprint's options does not make a valid five-field cron expression, or leaves a placeholder unfilled.",
  why: 'The job would be refused only once a user has chosen that option.',
} as const satisfies Rule;
