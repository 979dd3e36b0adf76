/** Parses five-field cron expressions and schedules in words, and finds the instants at which they fire in a time zone. */
import { Cron } from 'croner';
import { messageOf } from '../../base/errors.ts';
import { DAYS, EXACT, NICKNAMES, PHRASES, ZONES } from './built/words.ts';

/** Parses five-field cron expressions. */
export interface Schedule {
  /** The five fields, separated by single spaces. */
  readonly text: string;
  readonly minute: string;
  readonly hour: string;
  readonly dayOfMonth: string;
  readonly month: string;
  readonly dayOfWeek: string;
}

type ParsedSchedule =
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
  if (meant === null) return refuse(`${FIVE}; found ${shown === '' ? 'none' : parts.length}`);
  const sure = meant.exact ? `write \`${meant.cron}\`` : `write, for example, \`${meant.cron}\``;
  return { ...refuse(`${FIVE}: for \`${shown}\` ${sure}`), meant };
}

/** The meaning of six fields whose first field is seconds. */
function withoutSeconds([seconds, ...rest]: readonly string[]): MeantSchedule | null {
  if (rest.length !== 5 || seconds === undefined || !/^(?:\d{1,2}|\*)$/.test(seconds)) return null;
  // With `?`, days of the week begin at 1, and the last field may be a year.
  const exact = /^00?$/.test(seconds) && !rest.includes('?');
  return parseSchedule(rest.join(' ')).ok ? { cron: rest.join(' '), exact } : null;
}

/** A single moment: `in 20 minutes`, `2027-01-15T09:00`, `@once`, `tomorrow at 9`. */
const SINGLE = /^(?:@?at\s+)?(?:in\s+\S+\s+[a-z]|\d{4}-\d\d-\d\d|@?once\b|today\b|tonight\b|tomorrow\b|next\s)/i;

/** Returns the fields, or a message that explains what is wrong and what would be correct. */
export function parseSchedule(text: string): ParsedSchedule {
  if (SINGLE.test(text.trim())) return refuse(`a job repeats: it cannot run only once, as \`${text.trim()}\` says`);
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

const PHRASE_OF: ReadonlyMap<string, string> = new Map(Object.entries(PHRASES));
const DAY_OF: ReadonlyMap<string, string> = new Map(Object.entries(DAYS));
/** Phrases that are as precise as a cron expression. */
const EXACT_PHRASES: ReadonlySet<string> = new Set(EXACT);

/** Translates schedules in words (`nightly`, `every day at 9`, `07:30`) to cron expressions, for suggestions. */
interface MeantSchedule {
  readonly cron: string;
  /** False if a time of day had to be assumed. */
  readonly exact: boolean;
}

/** Returns null if the text is not understood. */
function readScheduleWords(text: string): MeantSchedule | null {
  const cloud = cloudSchedule(text.trim());
  if (cloud !== null) return cloud;
  const words = text
    .trim()
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/^@/, '')
    .replace(/^rate\((.*)\)$/, 'every $1');
  const phrase = PHRASE_OF.get(words);
  if (phrase !== undefined) return { cron: phrase, exact: EXACT_PHRASES.has(words) };
  const cron = interval(words) ?? timeOfDay(words);
  // `30m` and `at 9` may mean once, and `evening at 9` means 21:00.
  const isRepeated =
    /^(?:every|each|daily|(?:on )?[a-z]+(?:days|ends)) /.test(words) && !/night|morning|evening/.test(words);
  return cron === null ? null : { cron, exact: isRepeated };
}

/** `cron(0 9 * * ? *)`, the AWS form: the last field is the year, and days of the week start at 1. */
function cloudSchedule(text: string): MeantSchedule | null {
  const [, fields = '', weekday = ''] = /^cron\(((?:\S+ ){4})(\S+) \*\)$/.exec(text) ?? [];
  if (fields === '') return null;
  const cron = (fields + weekday).replaceAll('?', '*');
  return { cron, exact: !/\d/.test(weekday) };
}

/** `every 15 minutes`, `15m`, `every 2 hours`. */
function interval(words: string): string | null {
  const [, digits = '', unit] = /^(?:every )?(\d{1,2}) ?(m|min|mins|minutes?|h|hours?)$/.exec(words) ?? [];
  if (unit === undefined) return null;
  const count = Number(digits);
  const [most, cron] = unit.startsWith('m') ? [60, 'N * * * *'] : [24, '0 N * * *'];
  // Steps restart with each hour or day, so intervals are even only for divisors.
  if (count < 1 || most % count !== 0 || count === most) return null;
  return cron.replace('N', count === 1 ? '*' : `*/${count}`);
}

/** `at 9`, `every day at 9:15`, `mondays at 6pm`, `07:30`. */
function timeOfDay(words: string): string | null {
  const [, day, at, hours = '', minutes, half] =
    /^(?:(?:every |each |on )*([a-z]+?)s? )?(at )?(\d{1,2})(?:[:.h](\d\d))? ?(am|pm|h|o'clock)?$/.exec(words) ?? [];
  if (hours === '' || (day === undefined && at === undefined && minutes === undefined && half === undefined))
    return null;
  const dow = day === undefined || day === 'at' ? '*' : dayOf(day);
  const hour = hourOf(Number(hours), half);
  const minute = Number(minutes ?? 0);
  return dow === null || hour === null || minute > 59 ? null : `${minute} ${hour} * * ${dow}`;
}

function dayOf(word: string): string | null {
  const isName = /^(?:sun|mon|tues?|wednes|thurs?|fri|satur)day$/.test(word);
  return DAY_OF.get(word) ?? (isName ? DAY_OF.get(word.slice(0, 3)) : undefined) ?? null;
}

function hourOf(hour: number, half: string | undefined): number | null {
  if (half !== 'am' && half !== 'pm') return hour > 23 ? null : hour;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half === 'pm' ? 12 : 0);
}

/** Computes the instants at which a schedule will fire, in a time zone. */
interface Forecast {
  /** A five-field cron expression. */
  readonly schedule: string;
  /** An IANA zone. */
  readonly timezone: string;
  /** Unix ms; only later runs are returned. */
  readonly from: number;
  readonly count: number;
}

/** Returns Unix ms in ascending order: at most `count`, none if the schedule never fires or is invalid (a stored one may be damaged). */
export function nextRuns({ schedule, timezone, from, count }: Forecast): readonly number[] {
  if (!parseSchedule(schedule).ok || !isTimeZone(timezone)) return [];
  const cron = new Cron(schedule, { ...CRON_OPTIONS, timezone, paused: true });
  return cron.nextRuns(count, new Date(from)).map((date) => date.getTime());
}

/** Whether this machine's time zone data contains the zone. Offsets such as `+02:00` are not zones: they have no rules. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The most populous zones of abbreviations. */
const ZONE_OF: ReadonlyMap<string, string> = new Map(Object.entries(ZONES));

/** Zones for a city (`Berlin`, `new york`) or an abbreviation. */
export function similarZones(name: string): readonly string[] {
  // `UTC+2` has no rules for summer; the zone of that name has the sign of POSIX.
  const [, sign, hours] = /^(?:UTC|GMT)?([+-])0?(\d{1,2})(?::?00)?$/i.exec(name.trim()) ?? [];
  const fixed = `Etc/GMT${sign === '+' ? '-' : '+'}${hours}`;
  if (sign !== undefined && isTimeZone(fixed)) return [fixed];
  const abbreviated = ZONE_OF.get(name.toUpperCase());
  if (abbreviated !== undefined) return [abbreviated];
  const city = name.trim().toLowerCase().replaceAll(' ', '_');
  return timeZones().filter((zone) => zone.slice(zone.lastIndexOf('/') + 1).toLowerCase() === city);
}

/** All zones that this machine knows, for suggestions. */
export function timeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}
