/** A request in the form in which the server sends it to the writer thread. */

import type { KeptHead } from '../../../../runtime/intake/kept-request.ts';
import type { RefusedRequest } from '../../../../runtime/verify/signature-evidence.ts';
import type { LocatorPlan } from '../../../../schemas/generated/types.ts';

export interface Captured {
  /** The number in its id. */
  readonly number: number;
  /** Without the digest of the body and the cause, which the thread adds. */
  readonly head: KeptHead;
  /** As received; null when it was not read. */
  readonly body: Uint8Array | null;
  /** Places of the body that hold credentials. */
  readonly credentials: readonly LocatorPlan[];
  /** What the search for the cause of a refused signature needs; null for any other request. */
  readonly refused: RefusedRequest | null;
}

/** Secrets added since the last request to the thread. */
export interface NewSecrets {
  /** Number of secrets that the thread already has. */
  readonly known: number;
  readonly added: readonly string[];
}

export interface CaptureLimits {
  /** Requests with lower numbers have expired. */
  readonly before: number;
  readonly maxBytes: number;
}
