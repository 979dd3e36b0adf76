/**
 * Ids of kept requests. An id is a number, written with ten letters and digits: the millisecond in which the request came and
 * its place among those of that millisecond. So ids sort by time, and the number is the key of its row.
 */

const DIGITS = 10;
/** Requests that one millisecond has numbers for. */
const PER_MS = 1024;
const ID = /^[0-9a-z]{1,10}$/;

/** Makes ids that are above every one before, also when the clock steps back. */
export function createRequestIds(): (now: number) => number {
  let last = 0;
  return (now) => {
    last = Math.max(last + 1, firstNumber(now));
    return last;
  };
}

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
