/** A step that does not divide its field. */

import type { Problem } from '../diagnostics/problem.ts';
import { unevenSteps } from '../schedule/lint-schedule.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import type { ViewRule } from './support/view-rule.ts';

export const scheduleStep = {
  id: 'schedule-step',
  checkJob({ config }): readonly Problem[] {
    const parsed = parseSchedule(config.schedule);
    const complaints = parsed.ok ? unevenSteps(parsed.schedule) : [];
    return complaints.map((complaint) => ({ rule: 'schedule-step', path: ['schedule'], at: 'value', ...complaint }));
  },
} as const satisfies ViewRule;
