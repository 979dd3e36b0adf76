/** Translates schedules in words (`nightly`, `every day at 9`, `07:30`) to cron expressions, for suggestions. */
import { DAYS, EXACT, PHRASES } from './built/words.ts';

const PHRASE_OF: ReadonlyMap<string, string> = new Map(Object.entries(PHRASES));
const DAY_OF: ReadonlyMap<string, string> = new Map(Object.entries(DAYS));
/** Phrases that are as precise as a cron expression. */
const EXACT_PHRASES: ReadonlySet<string> = new Set(EXACT);

export interface MeantSchedule {
  readonly cron: string;
  /** False if a time of day had to be assumed. */
  readonly exact: boolean;
}

/** Returns null if the text is not understood. */
export function readScheduleWords(text: string): MeantSchedule | null {
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
  return cron === null ? null : { cron, exact: true };
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
