/** A step that does not divide its field. */

import type { Problem } from '../diagnostics/problem.ts';
import { unevenSteps } from '../schedule/lint-schedule.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import type { ViewRule } from './support/view-rule.ts';

export const scheduleStep = {
  id: 'schedule-step',
  group: 'jobs',
  severity: 'warning',
  title: 'A step in the `schedule` of a job does not divide its field.',
  why: 'The job would run at uneven intervals: `*/45 * * * *` fires at 0 and 45 minutes past each hour.',
  checkJob({ config }): readonly Problem[] {
    const parsed = parseSchedule(config.schedule);
    const complaints = parsed.ok ? unevenSteps(parsed.schedule) : [];
    return complaints.map((complaint) => ({ rule: scheduleStep, path: ['schedule'], at: 'value', ...complaint }));
  },
} as const satisfies ViewRule;
