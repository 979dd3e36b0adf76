/**
 * Ids of kept requests. An id is a number, written with ten letters and digits: the millisecond in which the request came and
 * its place among those of that millisecond. So ids sort by time, and the number is the key of its row.
 */
import { randomInt } from 'node:crypto';

const DIGITS = 10;
/** Requests that one millisecond has numbers for. */
const PER_MS = 1024;
const ID = /^[0-9a-z]{1,10}$/;

/**
 * Makes ids that are above every one before, also when the clock steps back. @param place among those of a millisecond: of
 * its own for each gateway that shares a database
 */
export function createRequestIds(place: () => number = () => 0): (now: number) => number {
  let last = 0;
  return (now) => {
    last = Math.max(last + 1, firstNumber(now) + place());
    return last;
  };
}

/** Anywhere in the first half of a millisecond, so that gateways rarely give one id to two requests. */
export const anyPlace = (): number => randomInt(PER_MS / 2);

/** The lowest number of an instant. @param at Unix ms */
export const firstNumber = (at: number): number => Math.max(0, Math.floor(at)) * PER_MS;

export const idOf = (number: number): string => number.toString(36).padStart(DIGITS, '0');

/** The number of a whole id; null when it is none. */
export const numberOf = (id: string): number | null =>
  id.length === DIGITS && ID.test(id) ? Number.parseInt(id, 36) : null;

/** The numbers whose ids begin with this text, both inclusive; null when no id does. */
export function numbersOf(prefix: string): readonly [from: number, to: number] | null {
  if (!ID.test(prefix)) return null;
  const from = Number.parseInt(prefix.padEnd(DIGITS, '0'), 36);
  const to = Number.parseInt(prefix.padEnd(DIGITS, 'z'), 36);
  return [from, to];
}
