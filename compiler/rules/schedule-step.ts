/** A step that does not divide its field. */
import { unevenSteps } from '../schedule/lint-schedule.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import type { Rule } from './support/rule.ts';

export const scheduleStep: Rule = {
  id: 'schedule-step',
  severity: 'warning',
  title: 'A step in the `schedule` of a job does not divide its field.',
  why: 'The job would run at uneven intervals: `*/45 * * * *` fires at 0 and 45 minutes past each hour.',
  checkJob({ config }) {
    const parsed = parseSchedule(config.schedule);
    const complaints = parsed.ok ? unevenSteps(parsed.schedule) : [];
    return complaints.map((complaint) => ({ rule: this.id, path: ['schedule'], at: 'value', ...complaint }));
  },
};
