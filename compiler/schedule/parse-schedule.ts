/** Parses five-field cron expressions. */

import { Cron } from 'croner';
import { messageOf } from '../../base/message-of.ts';
import { NICKNAMES } from './built/words.ts';
import type { MeantSchedule } from './schedule-words.ts';
import { readScheduleWords } from './schedule-words.ts';

export interface Schedule {
  /** The five fields, separated by single spaces. */
  readonly text: string;
  readonly minute: string;
  readonly hour: string;
  readonly dayOfMonth: string;
  readonly month: string;
  readonly dayOfWeek: string;
}

export type ParsedSchedule =
  | { readonly ok: true; readonly schedule: Schedule }
  | {
      readonly ok: false;
      readonly message: string;
      /** The schedule that was probably meant. */
      readonly meant?: MeantSchedule;
    };

/** The five fields of common nicknames. */
const NICKNAME_OF: ReadonlyMap<string, string> = new Map(Object.entries(NICKNAMES));

/**
 * Options for parsing schedules, also used by the scheduler: minutes are the smallest unit, and a schedule without
 * wildcards or steps fires exactly once at each of its times of day, even when clocks change.
 */
export const CRON_OPTIONS = { mode: '5-part', fixedTimeRule: 'no-wildcard' } as const;

type Refused = Extract<ParsedSchedule, { ok: false }>;

function refuse(message: string): Refused {
  return { ok: false, message };
}

const FIVE = 'five fields are needed (minute, hour, day of month, month, day of week)';

/** Explains text that does not have five fields; it often states a time in words. */
function explainWords(text: string, parts: readonly string[]): Refused {
  const shown = text.trim();
  const time = /^(\d{1,2}):(\d\d)$/.exec(shown);
  if (time !== null && (Number(time[1]) > 23 || Number(time[2]) > 59)) {
    return refuse(`\`${shown}\` is not a time of day: times are 00:00 to 23:59, and 07:30 every day is \`30 7 * * *\``);
  }
  const meant = withoutSeconds(parts) ?? readScheduleWords(text);
  if (meant === null) return refuse(`${FIVE}, here are ${shown === '' ? 'none' : parts.length}`);
  const sure = meant.exact ? `write \`${meant.cron}\`` : `write, for example, \`${meant.cron}\``;
  return { ...refuse(`${FIVE}: for \`${shown}\` ${sure}`), meant };
}

/** The meaning of six fields whose first field is seconds. */
function withoutSeconds([seconds, ...rest]: readonly string[]): MeantSchedule | null {
  if (rest.length !== 5 || seconds === undefined || !/^(?:\d{1,2}|\*)$/.test(seconds)) return null;
  return parseSchedule(rest.join(' ')).ok ? { cron: rest.join(' '), exact: seconds === '0' || seconds === '00' } : null;
}

/** Returns the fields, or a message that explains what is wrong and what would be correct. */
export function parseSchedule(text: string): ParsedSchedule {
  const parts = text.trim().split(/\s+/);
  const first = parts[0] ?? '';
  if (first.startsWith('@')) {
    const meant = NICKNAME_OF.get(first);
    if (meant === undefined && first === '@every') return explainWords(text, parts);
    if (meant === undefined) return refuse(`\`${first}\` is not a five-field cron expression`);
    return { ...refuse(`write \`${meant}\` for \`${first}\``), meant: { cron: meant, exact: true } };
  }
  if (parts.length !== 5) return explainWords(text, parts);
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = parts;
  const joined = parts.join(' ');
  try {
    new Cron(joined, { ...CRON_OPTIONS, timezone: 'UTC', paused: true });
  } catch (error) {
    const reason = messageOf(error);
    return refuse(reason.replace(/^CronPattern: /, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase()));
  }
  return { ok: true, schedule: { text: joined, minute, hour, dayOfMonth, month, dayOfWeek } };
}
