/** A kept request as the stages take it. */
import type { KeptRequest } from '../../runtime/capture/kept-request.ts';
import type { RequestParts } from '../../runtime/verify/request.ts';
import { partsOf } from './read-request.ts';

export interface KeptParts {
  readonly parts: RequestParts;
  /** The scheme by which its signature was right; `none` where its route checks none. */
  readonly verifiedBy: string;
}

/** Null where its body was not kept: it had no valid signature. */
export function keptParts({ method, path, headers, body, verified, scheme }: KeptRequest): KeptParts | null {
  if (body === null || !verified) return null;
  return { parts: partsOf(method, path, headers, Buffer.from(body, 'base64')), verifiedBy: scheme ?? NO_SCHEME };
}

/** Of a route that checks no signature. */
export const NO_SCHEME = 'none';
