/** The changes of ../mutations.ts as SQL. Each handler runs inside the transaction of its batch. */
import type Database from 'libsql';
import { claimKey } from '../claim-key.ts';
import type { Mutation, MutationHandlers, MutationResults } from '../mutations.ts';
import { applyMutation } from '../mutations.ts';
import type { TakeClaim } from './accept.ts';
import { createInsertDispatch, createIsFree, createTakeClaim } from './accept.ts';
import { createAdvance } from './advance.ts';
import { createCleanup, createExpireClaims } from './cleanup.ts';
import { createCoalesce, createRelease } from './groups.ts';
import { createJobHandlers } from './jobs.ts';
import { NewRows } from './new-rows.ts';
import { OpenRows } from './open-rows.ts';
import { createTallyWriter } from './tally-writer.ts';

/** How claims are taken: for granted, until the end shows that they were free; or each by itself. */
export type Claiming = 'granted' | 'checked';

/** Applies changes within a transaction. */
export interface Applier {
  apply<M extends Mutation>(mutation: M, claiming: Claiming): MutationResults[M['kind']];
  /** Writes what is still gathered; before the commit. @throws ClaimHeld when one was taken for granted wrongly */
  finish(): void;
  /** After a rollback. */
  discard(): void;
}

/** Kinds whose handlers never look at what others have inserted in the same transaction. */
const BLIND: ReadonlySet<Mutation['kind']> = new Set(['accept', 'advance']);

export function createApplier(db: Database.Database): Applier {
  const rows = new NewRows(db);
  const open = new OpenRows();
  const tally = createTallyWriter(db);
  let claiming: Claiming = 'checked';
  const check = createTakeClaim(db);
  const claim: TakeClaim = (claim, now) => {
    if (claiming === 'checked' || claim === null) return check(claim, now);
    rows.claim(claimKey(claim), claim.expires_at, now);
    return true;
  };
  const insert = createInsertDispatch(rows, open, tally);
  const advance = createAdvance(db, { rows, open, tally });
  const parts = { rows, tally, claim, insert, advance };
  const handlers = createHandlers(db, parts);
  return {
    apply(mutation, how) {
      claiming = how;
      if (!BLIND.has(mutation.kind)) rows.flush();
      return applyMutation(handlers, mutation);
    },
    finish() {
      rows.flush();
      rows.end();
      tally.flush();
    },
    discard() {
      rows.discard();
      open.discard();
      tally.discard();
    },
  };
}

interface HandlerParts {
  readonly rows: NewRows;
  readonly tally: ReturnType<typeof createTallyWriter>;
  readonly claim: TakeClaim;
  readonly insert: ReturnType<typeof createInsertDispatch>;
  readonly advance: MutationHandlers['advance'];
}

function createHandlers(db: Database.Database, parts: HandlerParts): MutationHandlers {
  const { rows, tally, claim, insert, advance } = parts;
  const isFree = createIsFree(db);
  const setAnswered = db.prepare('UPDATE work SET answered_at = ? WHERE ref = ?');
  const toInbox = db.prepare('INSERT INTO inbox (ref) VALUES (?)');
  const fromInbox = db.prepare('DELETE FROM inbox WHERE ref = ?');
  return {
    accept(m) {
      // A claim among the new rows counts as well.
      if (m.claiming === 'later') rows.flush();
      const isNew = m.claiming === 'now' ? claim(m.claim, m.now) : isFree(m.claim, m.now);
      if (!isNew) return { kind: 'duplicate' };
      const ref = insert(m, m.state, m.now);
      if (m.answer !== undefined) {
        rows.answers.add(ref, JSON.stringify(m.answer));
        rows.flush();
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
    expire_claims: createExpireClaims(db),
    cleanup: createCleanup(db, tally),
    ...createJobHandlers(db, { claim, insert, toInbox: (ref) => void toInbox.run([ref]) }),
  };
}
