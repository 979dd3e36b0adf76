/**
 * The delivery ids that this process has claimed of late, so that a repeat is known without a query. It may
 * forget: the database remembers all of them. What it knows is certain, for a claim ends by its expiry alone.
 */
import { ClaimMap } from '../claim-map.ts';
import type { ClaimKey, Mutation, StoredClaim } from '../mutations.ts';
import type { Result } from './pending.ts';

/** Ids kept at least; twice as many at most. */
const KEPT = 2048;

export class RecentClaims {
  /** The older half is dropped when the newer one is full. */
  private newer = new ClaimMap();
  private older = new ClaimMap();

  private add(claim: StoredClaim): void {
    if (this.newer.size >= KEPT) {
      this.older = this.newer;
      this.newer = new ClaimMap();
    }
    this.newer.set(claim);
  }

  /** Takes note of a change that was committed. */
  committed(mutation: Mutation, result: Result): void {
    const claim = claimOf(mutation);
    const isStored =
      result === true ||
      (typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'stored');
    if (claim !== null && isStored) this.add(claim);
  }

  /** @param now unix ms */
  has(claim: ClaimKey, now: number): boolean {
    return this.newer.holds(claim, now) || this.older.holds(claim, now);
  }
}

/** The claim that a change makes, should it be stored. */
export function claimOf(mutation: Mutation): StoredClaim | null {
  switch (mutation.kind) {
    case 'accept':
      return mutation.claiming === 'now' ? mutation.claim : null;
    case 'coalesce':
      return mutation.claim;
    case 'advance':
      return mutation.claim ?? null;
    default:
      return null;
  }
}
