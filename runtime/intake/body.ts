/**
 * Reads a request's body once, as bytes, within a limit, for the size stage.
 *
 * The bytes are kept as they came: the signature is checked over them and the payload parsed from them. Reading ends at
 * the byte that goes past the limit; what still arrives afterwards is dropped by whoever answers (answer.ts).
 */
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The body did not arrive: it outgrew the limit, or its sender went away. */
export type BodyFault = 'too_large' | 'aborted';

/** Requests of our server: they carry their reader, so that listeners need no closure of their own. */
export class IntakeRequest extends IncomingMessage {
  reader: BodyReader | null;
  /** The sender waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;

  constructor(socket: Socket) {
    super(socket);
    this.reader = null;
    this.awaitsContinue = false;
  }
}

class BodyReader {
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private readonly limit: number;
  private readonly settle: (result: Buffer | BodyFault) => void;

  constructor(limit: number, settle: (result: Buffer | BodyFault) => void) {
    this.limit = limit;
    this.settle = settle;
  }

  /** False once the limit is passed. */
  take(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > this.limit) {
      this.chunks.length = 0;
      return false;
    }
    this.chunks.push(chunk);
    return true;
  }

  end(): void {
    const [first] = this.chunks;
    // One chunk is the common case, and needs no copy.
    this.settle(first !== undefined && this.chunks.length === 1 ? first : Buffer.concat(this.chunks, this.size));
  }

  fail(fault: BodyFault): void {
    this.settle(fault);
  }
}

/**
 * The whole body of at most `limit` bytes.
 * Never rejects: what can go wrong is the sender's doing and a `BodyFault`.
 */
export function readBody(request: IntakeRequest, limit: number): Promise<Buffer | BodyFault> {
  return new Promise((resolve) => {
    request.reader = new BodyReader(limit, resolve);
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onClose);
  });
}

function onData(this: IntakeRequest, chunk: Buffer): void {
  if (this.reader?.take(chunk) === false) finish(this)?.fail('too_large');
}

function onEnd(this: IntakeRequest): void {
  finish(this)?.end();
}

/** Without an `end` before it, a close means that the rest will never come. */
function onClose(this: IntakeRequest): void {
  finish(this)?.fail('aborted');
}

/** The listeners stay, and do nothing from now on. */
function finish(request: IntakeRequest): BodyReader | null {
  const { reader } = request;
  request.reader = null;
  return reader;
}
