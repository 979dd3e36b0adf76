/** A schedule that is not a cron expression. */
import type { Repair } from '../diagnostics/problem.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import { rule } from './support/rule.ts';

export const invalidSchedule = rule('invalid-schedule', {
  job({ config }, report) {
    const parsed = parseSchedule(config.schedule);
    if (parsed.ok) return;
    const { message, meant } = parsed;
    const hint = meant === undefined ? FIELDS : undefined;
    const fix: Repair | undefined =
      meant?.exact === true ? { kind: 'replace', text: JSON.stringify(meant.cron) } : undefined;
    report({ path: ['schedule'], at: 'value', message, hint, fix });
  },
});

const FIELDS = 'minute, hour, day of month, month, day of week: `0 8 * * 1-5` is 08:00 on weekdays';
