/**
 * The bytes of one request's body while they arrive, for `UnverifiedBodies`.
 *
 * They are kept as they came: the signature is checked over them and the payload parsed from them. Reading ends at the byte
 * that goes past the limit; answer.ts drops what still arrives afterwards.
 */
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Why a body did not arrive: it outgrew its limit or the memory there is, came too slowly, or its sender went away. */
export type BodyFault = 'too_large' | 'overloaded' | 'too_slow' | 'aborted';

/** The reader of a request body (unverified-bodies.ts). */
export interface BodyOwner {
  finish(request: IntakeRequest): BodyReader | null;
  fail(request: IntakeRequest, fault: BodyFault): void;
}

/** Requests of our server: they carry their reader, so that listeners need no closure of their own. */
export class IntakeRequest extends IncomingMessage {
  reader: BodyReader | null;
  bodies: BodyOwner | null;
  /** Bytes of memory that count as unverified. */
  held: number;
  /** The sender waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
  /** Client behind a trusted proxy for whom this request is counted; else null. */
  client: string | null;
  /** It came over a connection of this server, or from this machine: false where the sender is unknown. */
  isDirect: boolean;

  constructor(socket: Socket) {
    super(socket);
    this.reader = null;
    this.bodies = null;
    this.held = 0;
    this.awaitsContinue = false;
    this.client = null;
    this.isDirect = true;
  }
}

/** Chunks below this size, in bytes, are put together: a buffer of its own for each byte would take a hundred times more. */
const SMALL_CHUNK = 1024;
const BLOCK_BYTES = 16_384;

/** Counts memory about to be held for a request; false when there is none left. */
export interface BodyMemory {
  hold(request: Pick<IntakeRequest, 'held'>, bytes: number): boolean;
}

export class BodyReader {
  /** Bytes so far. */
  size = 0;
  /** Since when, in monotonic ms, and from how many bytes on the pace is measured. */
  paceSince: number;
  paceSize = 0;
  private readonly chunks: Buffer[] = [];
  /** The last of the chunks, while it has room for small ones; null: it is a chunk as received. */
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

  /** Null, or why no further chunk is taken. */
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
