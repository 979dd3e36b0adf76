/**
 * Ids of kept requests. An id is a number in ten base-36 digits: the millisecond in which the request arrived, and its
 * sequence number within that millisecond. So ids sort by time, and the number is the key of the row.
 */
import { randomInt } from 'node:crypto';

const DIGITS = 10;
/** Numbers per millisecond. */
const PER_MS = 1024;
const ID = /^[0-9a-z]{1,10}$/;

/**
 * Creates numbers that always grow, even when the clock steps back.
 * @param place the first number within a millisecond; it differs between gateways that share a database
 */
export function createRequestIds(place: () => number = () => 0): (now: number) => number {
  let last = 0;
  return (now) => {
    last = Math.max(last + 1, firstNumber(now) + place());
    return last;
  };
}

/** A random place in the first half of a millisecond, so that two gateways rarely create the same id. */
export const anyPlace = (): number => randomInt(PER_MS / 2);

/** The lowest number of a millisecond. @param at Unix ms */
export const firstNumber = (at: number): number => Math.max(0, Math.floor(at)) * PER_MS;

/** The id of a number. */
export const idOf = (number: number): string => number.toString(36).padStart(DIGITS, '0');

/** The number of a complete id; null for other text. */
export const numberOf = (id: string): number | null =>
  id.length === DIGITS && ID.test(id) ? Number.parseInt(id, 36) : null;

/** The range of numbers whose ids have this prefix, both inclusive; null when no id can. */
export function numbersOf(prefix: string): readonly [from: number, to: number] | null {
  if (!ID.test(prefix)) return null;
  const from = Number.parseInt(prefix.padEnd(DIGITS, '0'), 36);
  const to = Number.parseInt(prefix.padEnd(DIGITS, 'z'), 36);
  return [from, to];
}
