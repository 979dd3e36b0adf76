/**
 * Sheds load when this process is the bottleneck because it cannot parse and verify all events. It cannot see how long
 * requests wait in the kernel and between turns of the event loop, so while it is busy it measures this as a sender would:
 * by the time of `GET /health` on a new connection. While that time is too long, it accepts a shrinking share of the
 * events, and refuses the others before they are read, which costs a fraction of accepting them.
 */
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';

/** Longest acceptable wait, in ms, and how long waits must exceed it before events are refused, so that a burst passes. */
const MAX_WAIT_MS = 350;
const SUSTAINED_MS = 500;
/** With fewer verified events during a measurement there is no queue of them; then the machine is slow. */
const QUEUE = 50;
/** With a smaller share of verified ones, strangers keep the process busy: to refuse events would do what those want. */
const VERIFIED_SHARE = 0.5;
/** Time between two measurements while the process is busy, in ms. */
const EVERY_MS = 100;
/** Utilization of the event loop from which the process counts as busy. */
const BUSY = 0.8;
/** How the accepted share falls with each long measurement, its least value, and how it grows again. */
const FALL = 0.3;
const LEAST = 0.05;
const GROW = 0.1;

export interface OverloadContext {
  readonly clock: Clock;
  readonly log: Logger;
  /** Sends a request to the server as a sender would; settles with the answer. Null when it is not listening yet. */
  readonly ask: () => Promise<void> | null;
  /** Utilization of the event loop since the last call. Default: that of this process. */
  readonly utilization?: () => number;
}

export class Overload {
  private readonly context: OverloadContext;
  private readonly utilization: () => number;
  /** Monotonic ms at which the measurement under way began; null when there is none. */
  private askedAt: number | null = null;
  /** Numbers of events since then that were not refused, and of those of them that were verified. */
  private taken = 0;
  private verified = 0;
  private adjustedAt = Number.NEGATIVE_INFINITY;
  /** Monotonic ms since which all waits were too long; null when the last one was not. */
  private longSince: number | null = null;
  /** Share of the events that is accepted. */
  private share = 1;
  /** Accumulated fraction of an event that may be accepted. */
  private credit = 0;
  private refused = 0;

  constructor(context: OverloadContext) {
    this.context = context;
    this.utilization = context.utilization ?? measureUtilization();
  }

  /** Whether to refuse an event that arrives now. */
  refuses(): boolean {
    const now = this.context.clock.monotonic();
    if (now - this.adjustedAt >= EVERY_MS) this.measure(now);
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

  /** Starts a measurement, or checks the one under way. */
  private measure(now: number): void {
    if (this.askedAt !== null) {
      if (now - this.askedAt > MAX_WAIT_MS) this.adjust(now - this.askedAt);
      return;
    }
    this.adjustedAt = now;
    if (this.utilization() < BUSY) {
      this.adjust(0, 1);
      return;
    }
    const asked = this.context.ask();
    if (asked === null) return;
    this.askedAt = now;
    this.taken = 0;
    this.verified = 0;
    const end = (): void => {
      const began = this.askedAt ?? now;
      this.askedAt = null;
      this.adjust(this.context.clock.monotonic() - began);
    };
    asked.then(end, end);
  }

  /** @param wait in ms */
  private adjust(wait: number, grow = GROW): void {
    const { clock, log } = this.context;
    this.adjustedAt = clock.monotonic();
    const queue = Math.max(QUEUE * this.share, VERIFIED_SHARE * this.taken);
    if (wait > MAX_WAIT_MS && this.verified >= queue) {
      this.longSince ??= this.adjustedAt - wait;
      if (this.adjustedAt - this.longSince < SUSTAINED_MS) return;
      const fields = { wait_ms: Math.round(wait) };
      if (this.share === 1) log.warn(fields, 'more arrives than can be taken: some events get 503');
      this.share = Math.max(LEAST, this.share * FALL);
      return;
    }
    this.longSince = null;
    if (this.share < 1) {
      this.share = Math.min(1, this.share + grow);
      if (this.share < 1) return;
      log.info({ refused: this.refused }, 'all events are taken again');
      this.refused = 0;
    }
  }
}

/** Requests the health of a server that listens on `address`; settles with the answer. */
export function askHealth({ address, port }: Pick<AddressInfo, 'address' | 'port'>): Promise<void> {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return new Promise((resolve, reject) => {
    const request = get({ host, port, path: '/health', agent: false, headers: { connection: 'close' } }, (response) => {
      response.resume().on('end', resolve).on('error', reject);
    });
    request.on('error', reject);
  });
}

function measureUtilization(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
