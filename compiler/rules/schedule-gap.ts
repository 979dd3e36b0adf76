/** A time of day that is skipped when clocks go forward. */

import type { Problem } from '../diagnostics/problem.ts';
import { skippedTime } from '../schedule/lint-schedule.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import { isTimeZone } from '../schedule/time-zone.ts';
import type { ViewRule } from './support/view-rule.ts';

export const scheduleGap = {
  id: 'schedule-gap',
  checkJob({ config, scope }): readonly Problem[] {
    const parsed = parseSchedule(config.schedule);
    // Without a zone, the serving machine's zone applies, which is unknown here.
    const zone = config.timezone ?? scope.table.gateway.timezone;
    if (!parsed.ok || zone === null || !isTimeZone(zone)) return [];
    const complaint = skippedTime(parsed.schedule, zone);
    return complaint === null ? [] : [{ rule: 'schedule-gap', path: ['schedule'], at: 'value', ...complaint }];
  },
} as const satisfies ViewRule;
