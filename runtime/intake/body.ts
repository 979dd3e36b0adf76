/**
 * Collects the bytes of one request's body, for `UnverifiedBodies`.
 *
 * They are kept as received: the signature is checked over them and the payload is parsed from them. Reading stops when
 * the limit is exceeded; reply.ts discards what arrives afterwards.
 */
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Why a body was not read: it exceeds its limit or the free memory, arrives too slowly, or the sender disconnected. */
export type BodyFault = 'too_large' | 'overloaded' | 'too_slow' | 'aborted';

/** The reader of a request body (unverified-bodies.ts). */
export interface BodyOwner {
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
  /** Whether its sender is verified (connections.ts). */
  verified: boolean;
  /** Whether it came over a connection of this server, or from this machine; false when the sender is unknown. */
  isDirect: boolean;

  constructor(socket: Socket) {
    super(socket);
    this.reader = null;
    this.bodies = null;
    this.held = 0;
    this.awaitsContinue = false;
    this.client = null;
    this.verified = false;
    this.isDirect = true;
  }
}

/** Smaller chunks, in bytes, are copied into blocks: a buffer for each byte would take a hundred times the memory. */
const SMALL_CHUNK = 1024;
const BLOCK_BYTES = 16_384;

/** Counts memory that a request needs; false when there is none left. */
export interface BodyMemory {
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

  /** Adds a chunk; returns why the body is refused, or null. */
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
