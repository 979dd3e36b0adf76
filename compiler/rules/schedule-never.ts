/** A schedule that never fires. */

import type { Problem } from '../diagnostics/problem.ts';
import { neverFires } from '../schedule/lint-schedule.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import type { ViewRule } from './support/view-rule.ts';

export const scheduleNever = {
  id: 'schedule-never',
  checkJob({ config }): readonly Problem[] {
    const parsed = parseSchedule(config.schedule);
    const complaint = parsed.ok ? neverFires(parsed.schedule) : null;
    return complaint === null ? [] : [{ rule: 'schedule-never', path: ['schedule'], at: 'value', ...complaint }];
  },
} as const satisfies ViewRule;
