/** Rules about schedules. */
import type { Repair } from '../diagnostics/diagnostic.ts';
import { neverFires, skippedTime, unevenSteps } from '../schedule/lint-schedule.ts';
import { isTimeZone, parseSchedule } from '../schedule/parse-schedule.ts';
import { rule } from './support/rule.ts';

/** A schedule that is not a cron expression. */
export const invalidSchedule = rule('invalid-schedule', {
  job({ config }, report) {
    const parsed = parseSchedule(config.schedule);
    if (parsed.ok) return;
    const { message, meant } = parsed;
    const hint = meant === undefined ? FIELDS : meant.exact ? undefined : REPEATS;
    const fix: Repair | undefined =
      meant?.exact === true ? { kind: 'replace', text: JSON.stringify(meant.cron) } : undefined;
    report({ path: ['schedule'], at: 'value', message, hint, fix });
  },
});

const REPEATS = 'a schedule always repeats: a job cannot run only once';
const FIELDS = 'minute, hour, day of month, month, day of week: `0 8 * * 1-5` is 08:00 on weekdays';

/** A time of day that is skipped when clocks go forward. */
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

/** A schedule that never fires. */
export const scheduleNever = rule('schedule-never', {
  job({ config }, report) {
    const parsed = parseSchedule(config.schedule);
    const complaint = parsed.ok ? neverFires(parsed.schedule) : null;
    if (complaint !== null) report({ path: ['schedule'], at: 'value', ...complaint });
  },
});

/** A step that does not divide its field. */
export const scheduleStep = rule('schedule-step', {
  job({ config }, report) {
    const parsed = parseSchedule(config.schedule);
    const complaints = parsed.ok ? unevenSteps(parsed.schedule) : [];
    for (const complaint of complaints) report({ path: ['schedule'], at: 'value', ...complaint });
  },
});
