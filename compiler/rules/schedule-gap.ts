/** A time of day that is skipped when clocks go forward. */

import { skippedTime } from '../schedule/lint-schedule.ts';
import { parseSchedule } from '../schedule/parse-schedule.ts';
import { isTimeZone } from '../schedule/time-zone.ts';
import { rule } from './support/rule.ts';

export const scheduleGap = rule('schedule-gap', {
  job({ config, scope }, report) {
    const parsed = parseSchedule(config.schedule);
    // Without a zone, the serving machine's zone applies, which is unknown here.
    const zone = config.timezone ?? scope.table.gateway.timezone;
    if (!parsed.ok || zone === null || !isTimeZone(zone)) return;
    const complaint = skippedTime(parsed.schedule, zone);
    if (complaint !== null) report({ path: ['schedule'], at: 'value', ...complaint });
  },
});
