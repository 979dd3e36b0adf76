/** Compares the processor time of two functions in one process. */
import { setImmediate } from 'node:timers/promises';

export interface Pair {
  readonly bare: () => unknown;
  readonly ours: () => unknown;
}

/** Nanoseconds of one call. */
export interface PairRound {
  readonly bare: number;
  readonly ours: number;
}

/** Turns through all sides before anything is measured, so that code is compiled for all of them together. */
const WARM_UP_TURNS = 4;
/** Length of one measurement, in nanoseconds: short enough for both sides of a round to meet the same machine. */
const MEASURED_NS = 2_000_000;

/**
 * Many short rounds through all subjects; the first side alternates. @param warmUpCalls calls of each side and turn
 * @returns the rounds of each subject
 */
export async function measurePairs(
  subjects: readonly Pair[],
  count: number,
  warmUpCalls: number,
): Promise<PairRound[][]> {
  for (let turn = 0; turn < WARM_UP_TURNS; turn += 1) {
    for (const side of subjects.flatMap(({ bare, ours }) => [bare, ours])) await nanoseconds(side, warmUpCalls);
  }
  const sized: { readonly subject: Pair; readonly times: number; readonly rounds: PairRound[] }[] = [];
  for (const subject of subjects) {
    const times = Math.max(
      20,
      Math.round(MEASURED_NS / Math.max(await nanoseconds(subject.bare, 100), await nanoseconds(subject.ours, 100))),
    );
    sized.push({ subject, times, rounds: [] });
  }
  for (let at = 0; at < count; at += 1) {
    for (const { subject, times, rounds } of sized) rounds.push(await oneRound(subject, times, at % 2 === 0));
  }
  return sized.map(({ rounds }) => rounds);
}

/** One side, the other twice, the first again, so that a machine that slows down affects both equally. */
async function oneRound({ bare, ours }: Pair, times: number, bareFirst: boolean): Promise<PairRound> {
  const [outer, inner] = bareFirst ? [bare, ours] : [ours, bare];
  const first = await nanoseconds(outer, times);
  const middle = ((await nanoseconds(inner, times)) + (await nanoseconds(inner, times))) / 2;
  const ends = (first + (await nanoseconds(outer, times))) / 2;
  return bareFirst ? { bare: ends, ours: middle } : { bare: middle, ours: ends };
}

/**
 * Nanoseconds of CPU time of one call, so that other load on the machine does not count. A turn of the event loop
 * follows, in which node frees the native halves of dropped objects; otherwise they would burden the next measurement.
 */
async function nanoseconds(work: () => unknown, times: number): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < times; count += 1) work();
  const { user, system } = process.cpuUsage(before);
  await setImmediate();
  return ((user + system) * 1000) / times;
}
