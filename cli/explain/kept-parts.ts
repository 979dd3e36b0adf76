/** A kept request as the stages take it. */
import type { KeptRequest } from '../../runtime/capture/kept-request.ts';
import { requestParts } from '../../runtime/capture/request-parts.ts';
import type { RequestParts } from '../../runtime/verify/request.ts';

export interface KeptParts {
  readonly parts: RequestParts;
  /** The scheme by which its signature was right; `none` where its route checks none. */
  readonly verifiedBy: string;
}

/** Null where its body was not kept: it had no valid signature. */
export function verifiedParts(kept: KeptRequest): KeptParts | null {
  if (kept.body === null || !kept.verified) return null;
  return { parts: requestParts(kept), verifiedBy: kept.scheme ?? NO_SCHEME };
}

/** The scheme of a route that checks no signature. */
export const NO_SCHEME = 'none';
