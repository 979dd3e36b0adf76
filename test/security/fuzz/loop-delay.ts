/** Measures how long one case of the fuzz harness blocked the event loop. */
import { performance } from 'node:perf_hooks';

/** Runs of a case before its delay counts: the first may pay for compilation and garbage collection. */
const RUNS = 4;
/** Precision of the measurement, in ms. */
const TICK_MS = 5;
/** A loop that is blocked this long, in ms, counts even if the process used no processor time. */
const BLOCKED_MS = 1000;
/** Minimum share of processor time that a computing process gets, on however busy a machine. */
const LEAST_SHARE = 0.05;

/** Thrown for a case that blocks the event loop: the shortest of several delays over the limit. */
export class LoopHeld extends Error {
  override readonly name = 'LoopHeld';
}

/**
 * Runs a case once, and repeats it only if it blocked the loop for longer than `longestMs`.
 * @throws LoopHeld if every run blocked the loop for longer
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
 * A lower bound of the longest time between two turns of the loop, in ms; imprecise below `enough`. It is processor time of
 * this process, so that other processes on a busy machine do not count. Blocking without computing counts from `BLOCKED_MS` on.
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

/** Processor time of all threads of this process. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
