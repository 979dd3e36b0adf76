/** A schedule without a date. */
import { neverFires } from '../schedule/lint-schedule.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import type { Rule } from './support/rule.ts';

export const scheduleNever: Rule = {
  id: 'schedule-never',
  severity: 'warning',
  title: 'No date matches the `schedule` of a job.',
  why: 'The job would never run, and nothing would ever say so.',
  checkJob({ config }) {
    const parsed = parseSchedule(config.schedule);
    const complaint = parsed.ok ? neverFires(parsed.schedule) : null;
    return complaint === null ? [] : [{ rule: this.id, path: ['schedule'], at: 'value', ...complaint }];
  },
};
