/** Parsers of option values; an invalid value is wrong usage. */
import { UsageError } from '../base/errors.ts';

/** @throws UsageError naming the option and its range. */
export function parseInteger(
  text: string,
  option: string,
  range: { readonly min: number; readonly max: number },
): number {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value) && value >= range.min && value <= range.max) return value;
  throw new UsageError(`${option} must be a whole number from ${range.min} to ${range.max}, not "${text}"`);
}

/** @throws UsageError listing the choices. */
export function parseChoice<Choice extends string>(text: string, option: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === text);
  if (found === undefined) throw new UsageError(`${option} must be one of ${choices.join(', ')}, not "${text}"`);
  return found;
}

/** `a, b,c` as a list without empty members. */
export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** @throws UsageError unless it is a TCP port; 0 means any free port. */
export const parsePort = (text: string, option: string): number => parseInteger(text, option, { min: 0, max: 65535 });

const DURATION_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `24h` in ms; a bare number is seconds. @throws UsageError naming the units. */
export function parseDuration(text: string, option: string): number {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(s|m|h|d)?$/.exec(text) ?? [];
  if (amount === undefined) throw new UsageError(`${option} must be a time such as 90s, 30m, 24h or 7d, not "${text}"`);
  return Number(amount) * (DURATION_MS[unit] ?? 0);
}
