/** The changes of ../mutations.ts as SQL. Each handler runs inside the transaction of its batch. */
import type Database from 'libsql';
import { claimKey } from '../claim-key.ts';
import type { MutationHandlers, Ref } from '../mutations.ts';
import { isFailure } from '../mutations.ts';
import type { AcceptParts } from './accept.ts';
import { createAccept } from './accept.ts';
import type { Advancer } from './advance.ts';
import { toAdvanceRow } from './advance.ts';
import { createCleanup, createExpireClaims } from './cleanup.ts';
import { createCoalesce, createRelease } from './groups.ts';
import { createJobHandlers } from './jobs.ts';
import type { TallyWriter } from './tally-writer.ts';

export interface HandlerParts extends Pick<AcceptParts, 'claim' | 'insert'> {
  readonly advancer: Advancer;
  readonly tally: TallyWriter;
}

export function createHandlers(db: Database.Database, parts: HandlerParts): MutationHandlers {
  const { claim, insert, advancer, tally } = parts;
  const putInInbox = db.prepare('INSERT INTO inbox (ref) VALUES (?)');
  const takeFromInbox = db.prepare('DELETE FROM inbox WHERE ref = ?');
  const toInbox = (ref: Ref): void => void putInInbox.run([ref]);
  const advance = createAdvance(db, advancer);
  return {
    accept: createAccept(db, { claim, insert, toInbox }),
    coalesce: createCoalesce(db, claim, insert, advance),
    release: createRelease(db),
    advance,
    take_inbox({ refs }) {
      for (const ref of refs) takeFromInbox.run([ref]);
      return null;
    },
    expire_claims: createExpireClaims(db),
    cleanup: createCleanup(db, tally),
    ...createJobHandlers(db, { claim, insert, toInbox }),
  };
}

function createAdvance(db: Database.Database, advancer: Advancer): MutationHandlers['advance'] {
  const claim = db.prepare('INSERT OR REPLACE INTO claim (key, expires_at) VALUES (?, ?)');
  const fail = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('last_error', ?)");
  return (m) => {
    const found = advancer.advance(toAdvanceRow(m));
    if (found === null) return false;
    const { id, route } = found;
    if (m.claim !== undefined) claim.run([claimKey(m.claim), m.claim.expires_at]);
    if (isFailure(m)) fail.run([JSON.stringify({ id, route, at: m.at, reason: m.reason })]);
    return true;
  };
}
