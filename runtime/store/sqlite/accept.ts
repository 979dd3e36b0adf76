/** Holding delivery ids, and dispatches that come with more than the usual event does, as SQL. */
import type Database from 'libsql';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { claimKey } from '../claim-key.ts';
import type { MutationHandlers, Ref, StoredClaim } from '../mutations.ts';
import type { OpenState } from '../states.ts';

/** False: the id is held already. */
export type TakeClaim = (claim: StoredClaim | null, now: number) => boolean;

/** Stores a dispatch. @param readyAt null: it waits in its group */
export type InsertDispatch = (
  entry: { readonly dispatch: Dispatch; readonly max_concurrent: number | null },
  state: OpenState,
  readyAt: number | null,
) => Ref;

export function createTakeClaim(db: Database.Database): TakeClaim {
  const take = db.prepare(
    'INSERT INTO claim (key, expires_at) VALUES (?, ?) ' +
      'ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE claim.expires_at <= ?',
  );
  return (claim, now) => claim === null || take.run([claimKey(claim), claim.expires_at, now]).changes === 1;
}

/** True: nobody holds the id. */
function createIsFree(db: Database.Database): TakeClaim {
  const held = db.prepare('SELECT 1 FROM claim WHERE key = ? AND expires_at > ?').raw();
  return (claim, now) => claim === null || held.get([claimKey(claim), now]) === undefined;
}

export interface AcceptParts {
  readonly claim: TakeClaim;
  readonly insert: InsertDispatch;
  readonly toInbox: (ref: Ref) => void;
}

export function createAccept(db: Database.Database, parts: AcceptParts): MutationHandlers['accept'] {
  const { claim, insert, toInbox } = parts;
  const isFree = createIsFree(db);
  const putAnswer = db.prepare('INSERT INTO answer (ref, text) VALUES (?, ?)');
  const setAnswered = db.prepare('UPDATE work SET answered_at = ? WHERE ref = ?');
  return (m) => {
    const isNew = m.claiming === 'now' ? claim(m.claim, m.now) : isFree(m.claim, m.now);
    if (!isNew) return { kind: 'duplicate' };
    const ref = insert(m, m.state, m.now);
    if (m.answer !== undefined) {
      putAnswer.run([ref, JSON.stringify(m.answer)]);
      setAnswered.run([m.now, ref]);
    }
    if (m.inbox) toInbox(ref);
    return { kind: 'stored', ref };
  };
}
