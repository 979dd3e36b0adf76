/**
 * Sheds load when this process itself is the bottleneck: more arrives than it can parse and verify. Where requests wait
 * then, in the kernel and between turns of the event loop, it cannot see; so while it is busy it measures what a sender
 * would: how long `GET /health` takes on a new connection. While that is long it takes an ever smaller share of the
 * events, and refuses the others before anything of them is read, which costs a fraction of taking them.
 */
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';

/** A wait that is too long, in ms, and for how long waits must stay above it before events are refused: a burst passes. */
const MAX_WAIT_MS = 350;
const SUSTAINED_MS = 500;
/** With fewer requests served meanwhile there is no queue: the machine is slow. */
const QUEUE = 50;
/** Between two measurements of a busy process, in ms. */
const EVERY_MS = 100;
/** Share of time in which the event loop works, from which on the process is busy. */
const BUSY = 0.8;
/** How the share of events that are taken falls with each measurement that is too long, how far, and how it grows again. */
const FALL = 0.3;
const LEAST = 0.05;
const GROW = 0.1;

export interface OverloadContext {
  readonly clock: Clock;
  readonly log: Logger;
  /** Asks the server itself, as a sender would; settles with the answer. Null: it does not listen yet. */
  readonly ask: () => Promise<void> | null;
  /** Share of time in which the event loop has worked since the last call. Default: this process's. */
  readonly utilization?: () => number;
}

export class Overload {
  private readonly context: OverloadContext;
  private readonly utilization: () => number;
  /** Monotonic ms; null: no measurement is under way. */
  private askedAt: number | null = null;
  /** Requests since then. */
  private served = 0;
  private adjustedAt = Number.NEGATIVE_INFINITY;
  /** Monotonic ms since when every wait was too long; null: the last one was not. */
  private longSince: number | null = null;
  /** Share of the events that is accepted. */
  private share = 1;
  /** Parts of an event that may be taken, from those before. */
  private credit = 0;
  private refused = 0;

  constructor(context: OverloadContext) {
    this.context = context;
    this.utilization = context.utilization ?? measureUtilization();
  }

  /** True: an event that comes now is to be refused at once. */
  refuses(): boolean {
    const now = this.context.clock.monotonic();
    this.served++;
    if (now - this.adjustedAt >= EVERY_MS) this.look(now);
    if (this.share === 1) return false;
    this.credit += this.share;
    if (this.credit >= 1) {
      this.credit -= 1;
      return false;
    }
    this.refused++;
    return true;
  }

  /** Begins a measurement, or joins the one under way. */
  private look(now: number): void {
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
    this.served = 0;
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
    if (wait > MAX_WAIT_MS && this.served >= QUEUE) {
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

/** Asks a server that listens on `address` for its health. */
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
