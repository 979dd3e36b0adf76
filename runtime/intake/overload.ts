/**
 * Sheds load when the process cannot parse and verify all events: it accepts a shrinking share and rejects the others before
 * reading them, which costs a fraction of accepting them. Two queues show an overload. Ready requests are handled in one turn
 * of the event loop, which grows with their number. Of the connections that the system holds ready, a turn accepts one, so none
 * are left when some turns accept none.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';

/**
 * Longest acceptable turn, in ms; a request takes about three. The process has recovered when turns are shorter than the second
 * value.
 */
const MAX_DELAY_MS = 100;
const RECOVERED_MS = 50;
/** Minimum duration of long turns before events are rejected, in ms, so that a burst passes. */
const SUSTAINED_MS = 500;
/** Fewer events since long turns began are one burst, however slow the machine is: not every sender sends it again. */
const BURST = 100;
/** A long turn with fewer verified events does not indicate a queue of them; then the machine is slow. */
const QUEUE = 15;
/** Accepted connections per turn above which some are always waiting. */
const ACCEPTED = 0.9;
/**
 * With a smaller share of verified requests, or of connections that carry an event, strangers cause the load, and rejecting events
 * would help them.
 */
const VERIFIED_SHARE = 0.5;
/** Minimum time between two measurements, in ms. */
const EVERY_MS = 100;
/** Decrease of the accepted share with each long measurement, its minimum, and its growth in `EVERY_MS`. */
const FALL = 0.3;
const LEAST = 0.05;
const GROW = 0.1;

/** The event loop since the last measurement. */
interface LoopMeasurement {
  /** Mean length of the finished turns, in ms; null if none finished. */
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
  /** Numbers of events since the last measurement that were not rejected, and of the verified ones among them. */
  private taken = 0;
  private verified = 0;
  /** Number of all events since the last measurement. */
  private events = 0;
  /** Monotonic ms at which the current overload started; null if there is none. */
  private longSince: number | null = null;
  /** Number of all events since then. */
  private burst = 0;
  /** Share of events that are accepted. */
  private share = 1;
  /** Accumulated fraction of an event that may be accepted. */
  private credit = 0;
  private refused = 0;

  constructor(context: OverloadContext) {
    this.context = context;
    this.measuredAt = context.clock.monotonic();
    this.turnedAt = this.measuredAt;
  }

  /** True if an event that arrives now must be rejected. */
  refuses(): boolean {
    const now = this.context.clock.monotonic();
    if (now - this.measuredAt >= EVERY_MS) this.measure(now);
    this.events++;
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
    const connections = this.countAccepted();
    const isBacklog = connections >= ACCEPTED * Math.max(1, turns);
    const isQueue = isBacklog || (this.verified * delay) / elapsed >= QUEUE * this.share;
    const areStrangers = this.verified < VERIFIED_SHARE * this.taken || this.events < VERIFIED_SHARE * connections;
    if (areStrangers || !isQueue || (!isBacklog && delay < RECOVERED_MS)) this.recover(elapsed);
    else if (isBacklog || delay > MAX_DELAY_MS) this.shrink(now, delay, elapsed);
    this.measuredAt = now;
    this.taken = 0;
    this.verified = 0;
    this.events = 0;
  }

  /** Since the last measurement. */
  private countAccepted(): number {
    const before = this.accepted;
    this.accepted = this.context.accepted();
    return this.accepted - before;
  }

  private shrink(now: number, delay: number, elapsed: number): void {
    this.longSince ??= now - Math.max(delay, elapsed);
    this.burst += this.events;
    if (now - this.longSince < SUSTAINED_MS || this.burst < BURST) return;
    const fields = { delay_ms: Math.round(delay) };
    if (this.share === 1) this.context.log.warn(fields, 'overloaded: rejecting some events with 503');
    this.share = Math.max(LEAST, this.share * FALL);
  }

  private recover(elapsed: number): void {
    this.longSince = null;
    this.burst = 0;
    if (this.share === 1) return;
    this.share = Math.min(1, this.share + (GROW * elapsed) / EVERY_MS);
    if (this.share < 1) return;
    this.context.log.info({ refused: this.refused }, 'overload ended: accepting all events again');
    this.refused = 0;
  }
}

/** Time between two samples, in ms; each sample includes it. */
const SAMPLE_MS = 10;

/** Measures the event loop of this process. @param signal ends the measurement */
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
