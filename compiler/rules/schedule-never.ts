/** A schedule that never fires. */

import { neverFires } from '../schedule/lint-schedule.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import { rule } from './support/rule.ts';

export const scheduleNever = rule('schedule-never', {
  job({ config }, report) {
    const parsed = parseSchedule(config.schedule);
    const complaint = parsed.ok ? neverFires(parsed.schedule) : null;
    if (complaint !== null) report({ path: ['schedule'], at: 'value', ...complaint });
  },
});
