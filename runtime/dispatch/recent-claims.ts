/**
 * The delivery ids that this process has claimed of late, so that a repeat is known without asking the store. It may
 * forget: the store remembers all of them. What it knows is certain, for a claim ends by its expiry alone.
 */
import { ClaimMap } from '../store/claim-map.ts';
import type { ClaimKey, StoredClaim } from '../store/mutations.ts';

/** Ids kept at least; twice as many at most. */
const KEPT = 20_000;

export class RecentClaims {
  /** The older half is dropped when the newer one is full. */
  private newer = new ClaimMap();
  private older = new ClaimMap();

  add(claim: StoredClaim): void {
    if (this.newer.size >= KEPT) {
      this.older = this.newer;
      this.newer = new ClaimMap();
    }
    this.newer.set(claim);
  }

  /** @param now unix ms */
  has(claim: ClaimKey, now: number): boolean {
    return this.newer.holds(claim, now) || this.older.holds(claim, now);
  }
}
