/** Delivery ids that are held, as SQL. */
import type Database from 'libsql';
import { claimKey } from '../claim-key.ts';
import type { StoredClaim } from '../mutations.ts';

/** @param key of ../claim-key.ts @param now unix ms */
export type IsHeld = (key: string, now: number) => boolean;

/** False: the id is held already. */
export type TakeClaim = (claim: StoredClaim | null, now: number) => boolean;

export function createIsHeld(db: Database.Database): IsHeld {
  const held = db.prepare('SELECT 1 FROM claim WHERE key = ? AND expires_at > ?').raw();
  return (key, now) => held.get([key, now]) !== undefined;
}

/** Of some claims those that were ever made and not forgotten since: their expiry (unix ms) by key. */
export type ClaimsHeld = (keys: readonly string[]) => ReadonlyMap<string, number>;

export function createClaimsHeld(db: Database.Database): ClaimsHeld {
  const made = db.prepare('SELECT key, expires_at FROM claim WHERE key IN (SELECT value FROM json_each(?))').raw();
  const none: ReadonlyMap<string, number> = new Map();
  return (keys) => (keys.length === 0 ? none : new Map(made.all([JSON.stringify(keys)]) as [string, number][]));
}

export function createTakeClaim(db: Database.Database): TakeClaim {
  const take = db.prepare(
    'INSERT INTO claim (key, expires_at) VALUES (?, ?) ' +
      'ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE claim.expires_at <= ?',
  );
  return (claim, now) => claim === null || take.run([claimKey(claim), claim.expires_at, now]).changes === 1;
}
