/**
 * A cache of the delivery ids that this process has claimed most recently, for a synchronous check for duplicates.
 *
 * An id is added once the change that claimed it is committed, never before. A claim ends only when it expires; the
 * oldest entries are dropped when the cache is full. So `true` is certain, and after `false` the store must be asked.
 */

import type { ClaimKey, StoredClaim } from './identity.ts';
import { claimKey } from './identity.ts';
import type { Mutation, MutationResults } from './mutations.ts';

/** Entries of each of the two generations; the older one is dropped when the newer one is full. */
const GENERATION = 2048;

export class RecentClaims {
  /** Expiry in unix ms, by key. */
  private newer = new Map<string, number>();
  private older = new Map<string, number>();

  /** Adds the claim of a committed change. */
  committed<M extends Mutation>(mutation: M, result: MutationResults[M['kind']]): void {
    const claim = claimedBy(mutation, result);
    if (claim === null) return;
    if (this.newer.size >= GENERATION) {
      this.older = this.newer;
      this.newer = new Map();
    }
    this.newer.set(claimKey(claim), claim.expires_at);
  }

  /** @param now Unix ms */
  has(claim: ClaimKey, now: number): boolean {
    const key = claimKey(claim);
    return (this.newer.get(key) ?? this.older.get(key) ?? 0) > now;
  }
}

/** The claim that a committed change has made. */
function claimedBy(mutation: Mutation, result: MutationResults[Mutation['kind']]): StoredClaim | null {
  const kind = typeof result === 'object' && result !== null && 'kind' in result ? result.kind : null;
  switch (mutation.kind) {
    case 'accept':
      // The id of a message is free again when its delivery is given up.
      return kind === 'stored' && mutation.claiming === 'now' && mutation.work.kind === 'run' ? mutation.claim : null;
    case 'join_group':
      return kind === 'stored' ? mutation.claim : null;
    case 'fire_job':
      // An event for a job that is already running has been answered too.
      return kind === 'stored' || kind === 'running' ? mutation.claim : null;
    case 'advance':
      return result === true ? (mutation.claim ?? null) : null;
    default:
      return null;
  }
}
