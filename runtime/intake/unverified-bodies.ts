/**
 * Reads the bodies of unverified requests within limits: a maximum of memory for all of them together, and a minimum rate for
 * each. Used by the body and signature stages.
 */

import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, Timer } from '../platform/clock.ts';

interface BodyLimits {
  /** Maximum number of bytes of all bodies together. */
  readonly maxUnverifiedBytes: number;
  /** Bytes per second while there is room; 0: no limit. */
  readonly minBodyRate: number;
}

/**
 * The rate is measured over the last seconds, so that a body that was fast at first cannot stall for long. Above half of the
 * limit, the minimum rate grows, up to 64 times at the limit, and the window shrinks from the first to the second value.
 */
const WINDOW_MS = [5000, 1000] as const;
const RATE_GROWTH = 64;
const LOOK_MS = 500;
/** Wait for a body that does not affect the result. */
const ARRIVAL_MS = 50;

export class UnverifiedBodies implements BodyMemory {
  limits: BodyLimits = { maxUnverifiedBytes: Number.POSITIVE_INFINITY, minBodyRate: 0 };
  private readonly clock: Clock;
  private readonly crowding: () => number;
  private held = 0;
  /** In the order of their start. */
  private readonly arriving = new Set<IntakeRequest>();
  private timer: Timer | null = null;

  /** @param crowding share of the connections that are open, 0 to 1 */
  constructor(clock: Clock, crowding: () => number) {
    this.clock = clock;
    this.crowding = crowding;
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

  /** Resolves to the body if all of it arrives at once, as small ones do; otherwise, or if there is little room, to null. */
  async readArrived(request: IntakeRequest, limit: number): Promise<Buffer | null> {
    if (this.pressure() > 0) return null;
    const timer = this.clock.after(ARRIVAL_MS, () => this.fail(request, 'aborted'));
    const body = await this.read(request, limit);
    timer.cancel();
    return typeof body === 'string' ? null : body;
  }

  /** Ends the reading; the listeners stay, but do nothing from now on. Null if it has already ended. */
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

  /** Reserves memory; the bodies that have been arriving longest are dropped for later ones. */
  hold(request: Pick<IntakeRequest, 'held'>, bytes: number): boolean {
    for (const oldest of this.arriving) {
      if (oldest === request || this.held + bytes <= this.limits.maxUnverifiedBytes) break;
      this.fail(oldest, 'overloaded');
    }
    if (this.held + bytes > this.limits.maxUnverifiedBytes) return false;
    this.held += bytes;
    request.held += bytes;
    return true;
  }

  private readonly look = (): void => {
    const now = this.clock.monotonic();
    const { perMs, windowMs } = this.leastPace();
    for (const request of this.arriving) {
      const { reader } = request;
      if (reader === null || now - reader.paceSince < windowMs) continue;
      if (reader.size - reader.paceSize < perMs * (now - reader.paceSince)) this.fail(request, 'too_slow');
      reader.paceSince = now;
      reader.paceSize = reader.size;
    }
    this.timer = this.arriving.size === 0 ? null : this.clock.after(LOOK_MS, this.look);
  };

  /** 0 up to half of the connections and memory, 1 when either is exhausted. */
  private pressure(): number {
    return Math.max(0, 2 * Math.max(this.crowding(), this.held / this.limits.maxUnverifiedBytes) - 1);
  }

  /** The minimum pace in bytes per ms, and the time over which it is measured. */
  private leastPace(): { readonly perMs: number; readonly windowMs: number } {
    const pressure = this.pressure();
    const [calm, pressed] = WINDOW_MS;
    return {
      perMs: (this.limits.minBodyRate / 1000) * RATE_GROWTH ** pressure,
      windowMs: calm - (calm - pressed) * pressure,
    };
  }
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

/** Why a body was not read: it exceeds its limit or the free memory, arrives too slowly, or the sender disconnected. */
export type BodyFault = 'too_large' | 'overloaded' | 'too_slow' | 'aborted';

/** The reader of a request body (unverified-bodies.ts). */
interface BodyOwner {
  finish(request: IntakeRequest): BodyReader | null;
  fail(request: IntakeRequest, fault: BodyFault): void;
}

/** Requests of our server. They hold their reader, so that listeners need no closures. */
export class IntakeRequest extends IncomingMessage {
  reader: BodyReader | null;
  bodies: BodyOwner | null;
  /** Bytes of memory that count as unverified. */
  held: number;
  /** The sender waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
  /** The client behind a trusted proxy for which this request is counted; null for other requests. */
  client: string | null;
  /** True once its sender is verified (server.ts). */
  verified: boolean;
  /** True if it arrived over a connection of this server, or from this machine; false if the sender is unknown. */
  isDirect: boolean;
  /** The person who sends it, as `actor` names them; undefined: the sender itself. */
  by: string | undefined;

  constructor(socket: Socket) {
    super(socket);
    this.reader = null;
    this.bodies = null;
    this.held = 0;
    this.awaitsContinue = false;
    this.client = null;
    this.verified = false;
    this.isDirect = true;
    this.by = undefined;
  }
}

/** Smaller chunks, in bytes, are copied into blocks: a buffer for each byte would take a hundred times the memory. */
const SMALL_CHUNK = 1024;
const BLOCK_BYTES = 16_384;

/** Reserves memory for a request; false if none is left. */
interface BodyMemory {
  hold(request: Pick<IntakeRequest, 'held'>, bytes: number): boolean;
}

export class BodyReader {
  /** Bytes so far. */
  size = 0;
  /** Monotonic ms and number of bytes from which the pace is measured. */
  paceSince: number;
  paceSize = 0;
  private readonly chunks: Buffer[] = [];
  /** The last chunk, while it is a block with room for small ones; otherwise null. */
  private block: Buffer | null = null;
  private filled = 0;
  private readonly limit: number;
  private readonly request: Pick<IntakeRequest, 'held'>;
  private readonly memory: BodyMemory;
  private readonly settle: (result: Buffer | BodyFault) => void;

  constructor(
    request: Pick<IntakeRequest, 'held'>,
    limit: number,
    memory: BodyMemory,
    now: number,
    settle: (result: Buffer | BodyFault) => void,
  ) {
    this.request = request;
    this.limit = limit;
    this.memory = memory;
    this.paceSince = now;
    this.settle = settle;
  }

  /** Adds a chunk; returns why the body is rejected, or null. */
  take(chunk: Buffer): BodyFault | null {
    this.size += chunk.length;
    if (this.size > this.limit) return 'too_large';
    if (this.chunks.length > 0 && chunk.length < SMALL_CHUNK) return this.pack(chunk);
    if (!this.memory.hold(this.request, chunk.length)) return 'overloaded';
    this.closeBlock();
    this.chunks.push(chunk);
    return null;
  }

  end(): void {
    this.closeBlock();
    const [first] = this.chunks;
    // One chunk is the common case, and needs no copy.
    this.settle(first !== undefined && this.chunks.length === 1 ? first : Buffer.concat(this.chunks, this.size));
  }

  fail(fault: BodyFault): void {
    this.chunks.length = 0;
    this.block = null;
    this.settle(fault);
  }

  private pack(chunk: Buffer): BodyFault | null {
    if (this.block === null || this.block.length - this.filled < chunk.length) {
      if (!this.memory.hold(this.request, BLOCK_BYTES)) return 'overloaded';
      this.closeBlock();
      this.block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.filled = 0;
      this.chunks.push(this.block);
    }
    this.block.set(chunk, this.filled);
    this.filled += chunk.length;
    return null;
  }

  private closeBlock(): void {
    if (this.block === null) return;
    this.chunks[this.chunks.length - 1] = this.block.subarray(0, this.filled);
    this.block = null;
  }
}
