/** A request on its way into the file: what the server hands to the thread that writes. */
import type { LocatorPlan } from '../../schemas/generated/types.ts';
import type { RefusedRequest } from '../verify/signature-evidence.ts';
import type { KeptHead } from './kept-request.ts';

export interface Captured {
  /** The number in its id. */
  readonly number: number;
  /** What the thread finds out is not in it yet: the digest of the body, and the cause. */
  readonly head: KeptHead;
  /** As received; null: it was not read. */
  readonly body: Uint8Array | null;
  /** Places of the body that hold credentials. */
  readonly credentials: readonly LocatorPlan[];
  /** A refused signature, with what is needed to find out why; else null. */
  readonly refused: RefusedRequest | null;
}

/** Those that are known since the thread was told last. */
export interface NewSecrets {
  /** How many it was told before. */
  readonly known: number;
  readonly added: readonly string[];
}

export interface CaptureLimits {
  /** Numbers of requests that are too old by now lie below this one. */
  readonly before: number;
  readonly maxBytes: number;
}
