/** Measures for how long one case of the fuzz harness held the event loop. */
import { performance } from 'node:perf_hooks';

/** Runs of a case before its delay counts: the first may pay for compilation and garbage collection. */
const RUNS = 4;
/** How exact the measure is, in ms. */
const TICK_MS = 5;
/** A loop that stood still for so long, in ms, was held even where the process used no processor time. */
const BLOCKED_MS = 1000;
/** The part of a time in which a process that computes gets the processor, on a machine however busy. */
const LEAST_SHARE = 0.05;

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

/**
 * At least the longest time between two turns of the loop, in ms; not measured closely while it is below `enough`. It is
 * processor time of this process, so that other processes on a busy machine do not count; what blocks without computing
 * counts from `BLOCKED_MS` on.
 */
async function longestDelay(run: () => Promise<void>, enough: number): Promise<number> {
  const before = performance.eventLoopUtilization();
  let [last, lastCpu, longest] = [performance.now(), cpuMs(), 0];
  const tick = (): void => {
    const [now, cpu] = [performance.now(), cpuMs()];
    const [wall, used] = [now - last, cpu - lastCpu];
    const isBlocked = wall > BLOCKED_MS && used < wall * LEAST_SHARE;
    longest = Math.max(longest, isBlocked ? wall : Math.min(wall, used));
    [last, lastCpu] = [now, cpu];
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

/** Of all threads of this process. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
