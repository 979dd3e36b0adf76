/** When a failed run or delivery is tried again, for what retries and for the table in docs/operations.md. */

/** The first wait and the longest, in ms; each wait is four times the one before. */
const FIRST_MS = 2000;
const LONGEST_MS = 3_600_000;
const FACTOR = 4;
/** Share of a wait by which it is spread, so that many that failed together do not come back together. */
const JITTER = 0.2;

/** The wait after attempt `attempt` (from 1), before jitter, in ms. */
export function nominalWait(attempt: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * FACTOR ** (attempt - 1));
}

/**
 * The wait after attempt `attempt`, in ms. What the target asked for is honoured up to an hour: never earlier, and not
 * less than the usual wait either, or a target that keeps saying "one second" would use up all attempts in no time.
 * @param random a number in [0, 1).
 */
export function retryWait(attempt: number, askedMs: number | null, random: number): number {
  const wait = nominalWait(attempt);
  const asked = Math.min(askedMs ?? 0, LONGEST_MS);
  if (asked >= wait) return Math.round(asked * (1 + JITTER * random));
  return Math.max(asked, Math.round(wait * (1 - JITTER + 2 * JITTER * random)));
}

/** The wait of a target that was not even contacted, because its pace forbade it. */
export function pacedWait(askedMs: number | null): number {
  return Math.round(Math.min(Math.max(askedMs ?? FIRST_MS, 1), LONGEST_MS));
}
