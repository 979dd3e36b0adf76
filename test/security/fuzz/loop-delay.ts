/** Measures for how long one case of the fuzz harness held the event loop. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** Runs of a case before its delay counts: on a busy machine one long pause says nothing. */
const RUNS = 4;
/** How exact the measure is, in ms, and how long it takes to see the last turn of a case. */
const RESOLUTION_MS = 5;

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
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  try {
    await run();
    const { active } = performance.eventLoopUtilization(before);
    if (active <= enough) return active;
    await new Promise((resolve) => setTimeout(resolve, 3 * RESOLUTION_MS));
    return Math.min(active, delays.max / 1e6);
  } finally {
    delays.disable();
  }
}
