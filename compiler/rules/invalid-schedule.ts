/** A schedule that is not a cron expression. */
import type { Problem } from '../diagnostics/problem.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import type { ViewRule } from './support/view-rule.ts';

export const invalidSchedule = {
  id: 'invalid-schedule',
  checkJob({ config }): readonly Problem[] {
    const parsed = parseSchedule(config.schedule);
    if (parsed.ok) return [];
    const hint = 'minute, hour, day of month, month, day of week: `0 8 * * 1-5` is 08:00 on weekdays';
    const { message, meant } = parsed;
    const problem: Problem = { rule: 'invalid-schedule', path: ['schedule'], at: 'value', message };
    if (meant === undefined) return [{ ...problem, hint }];
    if (!meant.exact) return [problem];
    return [{ ...problem, fix: { kind: 'replace', text: JSON.stringify(meant.cron) } }];
  },
} as const satisfies ViewRule;
