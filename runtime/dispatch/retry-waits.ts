/** How long failed runs and deliveries wait before they are retried. */

/** The first wait and the longest, in ms; each wait is four times the one before. */
const FIRST_MS = 2000;
const LONGEST_MS = 3_600_000;
const FACTOR = 4;
/** Share of the wait by which it varies, so that attempts that failed together are not retried together. */
const JITTER = 0.2;

/** The wait after attempt `attempt` (from 1), before jitter, in ms. */
export function nominalWait(attempt: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (attempt - 1));
}

/**
 * The wait after attempt `attempt`, in ms. A wait that the target requested is honoured up to an hour, but never
 * shortens the usual one: a target that always requests one second would otherwise use up all attempts in a moment.
 * @param random a number in [0, 1).
 */
export function retryWait(attempt: number, askedMs: number | null, random: number): number {
  const wait = nominalWait(attempt);
  const requestedMs = Math.min(askedMs ?? 0, LONGEST_MS);
  if (requestedMs >= wait) return Math.round(requestedMs * (1 + JITTER * random));
  return Math.max(requestedMs, Math.round(wait * (1 - JITTER + 2 * JITTER * random)));
}

/** The wait, in ms, when the target was not contacted because of its pace. */
export function pacedWait(askedMs: number | null): number {
  return Math.round(Math.min(Math.max(askedMs ?? FIRST_MS, 1), LONGEST_MS));
}
