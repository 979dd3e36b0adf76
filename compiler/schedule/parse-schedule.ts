/** Reads a five-field cron expression, for everything in the compiler that checks, describes or forecasts a schedule. */
import { Cron } from 'croner';

export interface Schedule {
  /** The five fields, one space between them. */
  readonly text: string;
  readonly minute: string;
  readonly hour: string;
  readonly dayOfMonth: string;
  readonly month: string;
  readonly dayOfWeek: string;
}

export type ParsedSchedule =
  | { readonly ok: true; readonly schedule: Schedule }
  | { readonly ok: false; readonly message: string };

/** What people write in place of five fields, and what they mean by it. */
const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/**
 * The options under which a schedule is read, here and by the scheduler: minutes are the finest unit, and a schedule
 * without wildcard or step names times of day that each happen once a day, also when the clocks change.
 */
export const CRON_OPTIONS = { mode: '5-part', fixedTimeRule: 'no-wildcard' } as const;

function refuse(message: string): ParsedSchedule {
  return { ok: false, message };
}

/** @returns the fields, or what is wrong with the expression and what would be right. */
export function parseSchedule(text: string): ParsedSchedule {
  const parts = text.trim().split(/\s+/);
  const first = parts[0] ?? '';
  if (first.startsWith('@')) {
    const meant = Object.hasOwn(NICKNAMES, first) ? NICKNAMES[first] : undefined;
    return refuse(
      meant === undefined ? `\`${first}\` is not a five-field cron expression` : `write \`${meant}\` for \`${first}\``,
    );
  }
  const [minute, hour, dayOfMonth, month, dayOfWeek] = parts;
  if (
    minute === undefined ||
    hour === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined ||
    parts.length !== 5
  ) {
    const count = text.trim() === '' ? 'none' : String(parts.length);
    return refuse(`five fields are needed (minute, hour, day of month, month, day of week), here are ${count}`);
  }
  const joined = parts.join(' ');
  try {
    new Cron(joined, { ...CRON_OPTIONS, timezone: 'UTC', paused: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refuse(reason.replace(/^CronPattern: /, '').replace(/^[A-Z]/, (letter) => letter.toLowerCase()));
  }
  return { ok: true, schedule: { text: joined, minute, hour, dayOfMonth, month, dayOfWeek } };
}
