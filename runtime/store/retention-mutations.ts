/** The changes that remove expired rows, a slice at a time. */
import type { Ref } from './identity.ts';

/** Examines `limit` claims after the key `after` ('': the first ones) and removes those that have expired by `now`. */
export interface ExpireClaims {
  readonly kind: 'expire_claims';
  readonly now: number;
  readonly after: string;
  readonly limit: number;
}

/**
 * Examines `limit` dispatches after `after` and removes those that ended before `before` (Unix ms). The newest dispatch is
 * kept, so that its number is not reused.
 */
export interface Cleanup {
  readonly kind: 'cleanup';
  readonly before: number;
  readonly after: Ref;
  readonly limit: number;
}

/** Removes at most `limit` ended dispatches, oldest first and never the newest, while the store is larger than `max_bytes`. */
export interface Trim {
  readonly kind: 'trim';
  readonly max_bytes: number;
  readonly limit: number;
}

export type RetentionMutation = ExpireClaims | Cleanup | Trim;

export interface RetentionMutationResults {
  /** `next`: where to continue; null at the end. */
  expire_claims: { readonly removed: number; readonly next: string | null };
  /** `next`: where to continue; null at the end. */
  cleanup: { readonly removed: number; readonly next: Ref | null };
  /** `bytes`: the size of the store afterwards. */
  trim: { readonly removed: number; readonly bytes: number };
}
