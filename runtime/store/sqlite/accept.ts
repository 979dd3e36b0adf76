/** Storing a dispatch that comes with more than the usual event does, as SQL. */
import type Database from 'libsql';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { claimKey } from '../claim-key.ts';
import type { MutationHandlers, Ref } from '../mutations.ts';
import type { OpenState } from '../states.ts';
import type { TakeClaim } from './claims.ts';
import { createIsHeld } from './claims.ts';

/** Stores a dispatch. @param readyAt null: it waits in its group */
export type InsertDispatch = (
  entry: { readonly dispatch: Dispatch; readonly max_concurrent: number | null },
  state: OpenState,
  readyAt: number | null,
) => Ref;

export interface AcceptParts {
  readonly claim: TakeClaim;
  readonly insert: InsertDispatch;
  readonly toInbox: (ref: Ref) => void;
}

export function createAccept(db: Database.Database, parts: AcceptParts): MutationHandlers['accept'] {
  const { claim, insert, toInbox } = parts;
  const isHeld = createIsHeld(db);
  const putAnswer = db.prepare('INSERT INTO answer (ref, text) VALUES (?, ?)');
  const setAnswered = db.prepare('UPDATE work SET answered_at = ? WHERE ref = ?');
  return (m) => {
    const isNew = m.claiming === 'now' ? claim(m.claim, m.now) : m.claim === null || !isHeld(claimKey(m.claim), m.now);
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
