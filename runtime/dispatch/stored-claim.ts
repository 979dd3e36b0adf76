/** Converts a request's claim to the form that the store keeps; null for a generated id, which is never a duplicate. */
import type { StoredClaim } from '../store/mutations.ts';
import type { Claim } from './dispatcher.ts';

export function storedClaim(claim: Claim, now: number): StoredClaim | null {
  if (claim.generated) return null;
  const { profile, route, delivery_id, ttl_ms } = claim;
  return { profile, route, delivery_id, expires_at: Math.round(now + ttl_ms) };
}
