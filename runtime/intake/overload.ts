/**
 * Sheds load when the process cannot parse and verify all events that arrive: it then accepts a shrinking share of them and
 * refuses the others before they are read, which costs a fraction of accepting them. Two queues show an overload: requests
 * that are ready are handled in one turn of the event loop, which grows with their number; and of the connections that the
 * system holds ready, a turn accepts one, so that none are left when some turns accept none.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';

/** Longest acceptable turn, in ms: a request takes about three. With turns shorter than the other it has recovered. */
const MAX_DELAY_MS = 100;
const RECOVERED_MS = 50;
/** How long turns must be too long before events are refused, in ms, so that a burst passes. */
const SUSTAINED_MS = 500;
/** A long turn that holds fewer verified events is no queue of them; then the machine is slow. */
const QUEUE = 15;
/** Connections a turn from which some are always left. */
const ACCEPTED = 0.9;
/** With a smaller share of verified ones, strangers keep the process busy: to refuse events would do what those want. */
const VERIFIED_SHARE = 0.5;
/** Least time between two measurements, in ms. */
const EVERY_MS = 100;
/** How the accepted share falls with each long measurement, its least value, and how much it grows in `EVERY_MS`. */
const FALL = 0.3;
const LEAST = 0.05;
const GROW = 0.1;

/** The event loop since the last measurement. */
interface LoopMeasurement {
  /** Mean length of the turns that have ended, in ms; null: none has. */
  readonly delay: number | null;
  /** Number of turns. */
  readonly turns: number;
}

interface OverloadContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly measureLoop: () => LoopMeasurement;
  /** Number of connections accepted since the start. */
  readonly accepted: () => number;
}

export class Overload {
  private readonly context: OverloadContext;
  /** Monotonic ms of the last measurement. */
  private measuredAt: number;
  /** Monotonic ms at which a turn was last known to have ended. */
  private turnedAt: number;
  /** Number of connections accepted before the last measurement. */
  private accepted = 0;
  /** Numbers of events since the last measurement that were not refused, and of those of them that were verified. */
  private taken = 0;
  private verified = 0;
  /** Monotonic ms at which the overload under way began; null when there is none. */
  private longSince: number | null = null;
  /** Share of the events that is accepted. */
  private share = 1;
  /** Accumulated fraction of an event that may be accepted. */
  private credit = 0;
  private refused = 0;

  constructor(context: OverloadContext) {
    this.context = context;
    this.measuredAt = context.clock.monotonic();
    this.turnedAt = this.measuredAt;
  }

  /** Whether to refuse an event that arrives now. */
  refuses(): boolean {
    const now = this.context.clock.monotonic();
    if (now - this.measuredAt >= EVERY_MS) this.measure(now);
    this.credit = Math.min(1, this.credit + this.share);
    if (this.credit < 1) {
      this.refused++;
      return true;
    }
    this.credit -= this.share < 1 ? 1 : 0;
    this.taken++;
    return false;
  }

  /** Counts an event that was accepted and whose sender is verified. */
  verify(): void {
    this.verified++;
  }

  private measure(now: number): void {
    const { delay: ended, turns } = this.context.measureLoop();
    if (ended !== null) this.turnedAt = now;
    const delay = ended ?? now - this.turnedAt;
    const elapsed = now - this.measuredAt;
    const isBacklog = this.countAccepted() >= ACCEPTED * Math.max(1, turns);
    const isQueue = isBacklog || (this.verified * delay) / elapsed >= QUEUE * this.share;
    const areStrangers = this.verified < VERIFIED_SHARE * this.taken;
    if (areStrangers || !isQueue || (!isBacklog && delay < RECOVERED_MS)) this.recover(elapsed);
    else if (isBacklog || delay > MAX_DELAY_MS) this.shrink(now, delay, elapsed);
    this.measuredAt = now;
    this.taken = 0;
    this.verified = 0;
  }

  /** Since the last measurement. */
  private countAccepted(): number {
    const before = this.accepted;
    this.accepted = this.context.accepted();
    return this.accepted - before;
  }

  private shrink(now: number, delay: number, elapsed: number): void {
    this.longSince ??= now - Math.max(delay, elapsed);
    if (now - this.longSince < SUSTAINED_MS) return;
    const fields = { delay_ms: Math.round(delay) };
    if (this.share === 1) this.context.log.warn(fields, 'more arrives than can be taken: some events get 503');
    this.share = Math.max(LEAST, this.share * FALL);
  }

  private recover(elapsed: number): void {
    this.longSince = null;
    if (this.share === 1) return;
    this.share = Math.min(1, this.share + (GROW * elapsed) / EVERY_MS);
    if (this.share < 1) return;
    this.context.log.info({ refused: this.refused }, 'all events are taken again');
    this.refused = 0;
  }
}

/** Time between two samples, in ms; each contains it. */
const SAMPLE_MS = 10;

/** Measures the loop of this process. @param signal ends that */
export function monitorLoop(signal: AbortSignal): () => LoopMeasurement {
  const samples = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  samples.enable();
  signal.addEventListener('abort', () => samples.disable());
  let before = performance.nodeTiming.uvMetricsInfo.loopCount;
  return () => {
    const delay = samples.count === 0 ? null : Math.max(0, samples.mean / 1e6 - SAMPLE_MS);
    samples.reset();
    const { loopCount } = performance.nodeTiming.uvMetricsInfo;
    const turns = loopCount - before;
    before = loopCount;
    return { delay, turns };
  };
}
