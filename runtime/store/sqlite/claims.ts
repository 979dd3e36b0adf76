/** Claims of delivery ids, each with the time at which it expires. */
import { claimKey } from '../identity.ts';
import type { StoredClaim } from '../mutations.ts';
import type { Connection } from './driver.ts';

export function createClaims(db: Connection) {
  const putClaim = db.change('INSERT OR REPLACE INTO claim VALUES (?, ?)');
  const takeFree = db.change(
    'INSERT INTO claim VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET expires_at = ?2 WHERE expires_at <= ?3',
  );
  const held = db.query('SELECT 1 FROM claim WHERE key = ? AND expires_at > ?');
  return {
    /** Claims the id; returns false when it is already claimed. */
    claimFree: (claim: StoredClaim | null, now: number): boolean =>
      claim === null || takeFree(claimKey(claim), claim.expires_at, now) > 0,
    claim(claim: StoredClaim | null | undefined): void {
      if (claim !== null && claim !== undefined) putClaim(claimKey(claim), claim.expires_at);
    },
    isClaimed: (claim: StoredClaim | null, now: number): boolean =>
      claim !== null && held.get(claimKey(claim), now) !== undefined,
  };
}
