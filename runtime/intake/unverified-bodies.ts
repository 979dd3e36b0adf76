/**
 * Reads the bodies of requests that are not verified yet, within limits: the memory of all of them together, and a least
 * rate for each. For the body and signature stages.
 */
import type { Clock, Timer } from '../platform/clock.ts';
import type { BodyFault, BodyMemory, IntakeRequest } from './body.ts';
import { BodyReader } from './body.ts';

export interface BodyLimits {
  /** Most bytes of all bodies together. */
  readonly maxUnverifiedBytes: number;
  /** Bytes per second; 0: no limit. */
  readonly minBodyRate: number;
}

/** The rate is measured over the last 5 s, so that a body that was fast at first cannot stall for long. */
const WINDOW_MS = 5000;
const LOOK_MS = 1000;

export class UnverifiedBodies implements BodyMemory {
  limits: BodyLimits = { maxUnverifiedBytes: Number.POSITIVE_INFINITY, minBodyRate: 0 };
  private readonly clock: Clock;
  private held = 0;
  private readonly arriving = new Set<IntakeRequest>();
  private timer: Timer | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /**
   * Resolves to the whole body, of at most `limit` bytes; its memory counts until `release`. Never rejects: all failures
   * are caused by the sender and resolve to a `BodyFault`.
   */
  read(request: IntakeRequest, limit: number): Promise<Buffer | BodyFault> {
    return new Promise((resolve) => {
      request.reader = new BodyReader(request, limit, this, this.clock.monotonic(), resolve);
      request.bodies = this;
      this.arriving.add(request);
      this.timer ??= this.clock.after(LOOK_MS, this.look);
      request.on('data', onData);
      request.on('end', onEnd);
      request.on('close', onClose);
    });
  }

  /** Ends the reading; the listeners stay but do nothing from now on. Null when it has ended already. */
  finish(request: IntakeRequest): BodyReader | null {
    const { reader } = request;
    request.reader = null;
    if (reader !== null) this.arriving.delete(request);
    return reader;
  }

  fail(request: IntakeRequest, fault: BodyFault): void {
    this.release(request);
    this.finish(request)?.fail(fault);
  }

  /** Call when the sender is verified or the body is dropped: its memory no longer counts. Idempotent. */
  release(request: IntakeRequest): void {
    this.held -= request.held;
    request.held = 0;
  }

  hold(request: Pick<IntakeRequest, 'held'>, bytes: number): boolean {
    if (this.held + bytes > this.limits.maxUnverifiedBytes) return false;
    this.held += bytes;
    request.held += bytes;
    return true;
  }

  private readonly look = (): void => {
    const now = this.clock.monotonic();
    const least = (this.limits.minBodyRate * WINDOW_MS) / 1000;
    for (const request of this.arriving) {
      const { reader } = request;
      if (reader === null || now - reader.paceSince < WINDOW_MS) continue;
      if (reader.size - reader.paceSize < least) this.fail(request, 'too_slow');
      reader.paceSince = now;
      reader.paceSize = reader.size;
    }
    this.timer = this.arriving.size === 0 ? null : this.clock.after(LOOK_MS, this.look);
  };
}

function onData(this: IntakeRequest, chunk: Buffer): void {
  const fault = this.reader?.take(chunk) ?? null;
  if (fault !== null) this.bodies?.fail(this, fault);
}

function onEnd(this: IntakeRequest): void {
  this.bodies?.finish(this)?.end();
}

/** A close without an `end` before it means that the rest will not arrive. */
function onClose(this: IntakeRequest): void {
  if (this.reader !== null) this.bodies?.fail(this, 'aborted');
}
