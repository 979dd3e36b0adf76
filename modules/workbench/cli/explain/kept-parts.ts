/** A kept request as input of the stages. */

import type { KeptRequest } from '../../../../runtime/intake/kept-request.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import { requestParts } from '../../runtime/capture/requests.ts';

export interface KeptParts {
  readonly parts: RequestParts;
  /** The scheme of its valid signature; `none` if its route checks none. */
  readonly verifiedBy: string;
  /** When it came, in Unix ms. */
  readonly cameAt: number;
}

/** Null if its body was not kept because it had no valid signature. */
export function verifiedParts(kept: KeptRequest): KeptParts | null {
  if (kept.body === null || !kept.verified) return null;
  return { parts: requestParts(kept), verifiedBy: kept.scheme ?? NO_SCHEME, cameAt: kept.at };
}

/** The scheme of a route that checks no signature. */
export const NO_SCHEME = 'none';
