/** A step that does not divide its field. */

import { unevenSteps } from '../schedule/lint-schedule.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import { rule } from './support/rule.ts';

export const scheduleStep = rule('schedule-step', {
  job({ config }, report) {
    const parsed = parseSchedule(config.schedule);
    const complaints = parsed.ok ? unevenSteps(parsed.schedule) : [];
    for (const complaint of complaints) report({ path: ['schedule'], at: 'value', ...complaint });
  },
});
