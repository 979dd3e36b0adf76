/**
 * The delivery ids that this process has claimed of late, so that a repeat is known without asking the store. It may
 * forget: the store remembers all of them. What it knows is certain, for a claim ends by its expiry alone.
 */
import type { ClaimKey, StoredClaim } from '../store/mutations.ts';

/** Ids kept at least; twice as many at most. */
const KEPT = 20_000;

export class RecentClaims {
  /** Expiry by id, in unix ms. The older half is dropped when the newer one is full. */
  private newer = new Map<string, number>();
  private older = new Map<string, number>();

  add(claim: StoredClaim): void {
    if (this.newer.size >= KEPT) {
      this.older = this.newer;
      this.newer = new Map();
    }
    this.newer.set(nameOf(claim), claim.expires_at);
  }

  /** @param now unix ms */
  has(claim: ClaimKey, now: number): boolean {
    const name = nameOf(claim);
    return (this.newer.get(name) ?? this.older.get(name) ?? now) > now;
  }
}

/** Names of profiles and routes hold no NUL; of the id it does not matter. */
const nameOf = ({ profile, route, delivery_id }: ClaimKey): string => `${profile}\0${route}\0${delivery_id}`;
