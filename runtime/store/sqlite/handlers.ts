/** The changes of ../mutations.ts as SQL. Each handler runs inside the transaction of its batch. */
import type Database from 'libsql';
import type { MutationHandlers } from '../mutations.ts';
import { createInsertDispatch, createIsFree, createTakeClaim } from './accept.ts';
import { createAdvance } from './advance.ts';
import { createCleanup } from './cleanup.ts';
import { createCoalesce, createRelease } from './groups.ts';
import { createJobHandlers } from './jobs.ts';
import type { TallyWriter } from './tally-writer.ts';

export function createHandlers(db: Database.Database, tally: TallyWriter): MutationHandlers {
  const claim = createTakeClaim(db);
  const isFree = createIsFree(db);
  const insert = createInsertDispatch(db, tally);
  const advance = createAdvance(db, tally);
  const putAnswer = db.prepare('INSERT INTO answer (ref, text) VALUES (?, ?)');
  const setAnswered = db.prepare('UPDATE work SET answered_at = ? WHERE ref = ?');
  const toInbox = db.prepare('INSERT INTO inbox (ref) VALUES (?)');
  const fromInbox = db.prepare('DELETE FROM inbox WHERE ref = ?');
  const expire = db.prepare(
    'DELETE FROM claim WHERE key IN (SELECT key FROM claim WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)',
  );
  return {
    accept(m) {
      const isNew = m.claiming === 'now' ? claim(m.claim, m.now) : isFree(m.claim, m.now);
      if (!isNew) return { kind: 'duplicate' };
      const ref = insert(m, m.state, m.now);
      if (m.answer !== undefined) {
        putAnswer.run([ref, JSON.stringify(m.answer)]);
        setAnswered.run([m.now, ref]);
      }
      if (m.inbox) toInbox.run([ref]);
      return { kind: 'stored', ref };
    },
    coalesce: createCoalesce(db, claim, insert, advance),
    release: createRelease(db),
    advance,
    take_inbox({ refs }) {
      for (const ref of refs) fromInbox.run([ref]);
      return null;
    },
    expire_claims: ({ now, limit }) => expire.run([now, limit]).changes,
    cleanup: createCleanup(db, tally),
    ...createJobHandlers(db, { claim, insert, toInbox: (ref) => void toInbox.run([ref]) }),
  };
}
