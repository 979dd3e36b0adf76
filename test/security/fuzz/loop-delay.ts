/** Measures for how long one case of the fuzz harness held the event loop. */
import { performance } from 'node:perf_hooks';

/** Runs of a case before its delay counts: on a busy machine one long pause says nothing. */
const RUNS = 4;
/** How exact the measure is, in ms. */
const TICK_MS = 5;

/** What a case did to the event loop: the shortest of several delays over the limit. */
export class LoopHeld extends Error {
  override readonly name = 'LoopHeld';
}

/**
 * Runs a case once, and only when it held the loop for longer than `longestMs`, again.
 * @throws LoopHeld when every run held the loop for longer
 */
export async function runWithinLoop(run: () => Promise<void>, longestMs: number): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < RUNS; turn++) {
    least = Math.min(least, await longestDelay(run, longestMs));
    if (least <= longestMs) return;
  }
  throw new LoopHeld(`the event loop was held for ${Math.round(least)} ms, in each of ${RUNS} runs`);
}

/** At least the longest time between two turns of the loop, in ms; not measured closely while it is below `enough`. */
async function longestDelay(run: () => Promise<void>, enough: number): Promise<number> {
  const before = performance.eventLoopUtilization();
  let [last, longest] = [performance.now(), 0];
  const tick = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const ticks = setInterval(tick, TICK_MS);
  try {
    await run();
    const { active } = performance.eventLoopUtilization(before);
    if (active <= enough) return active;
    // The last turn of the case ends with the next tick.
    tick();
    return Math.min(active, longest);
  } finally {
    clearInterval(ticks);
  }
}
