/** Storing a dispatch and holding its delivery id, as SQL. */
import type Database from 'libsql';
import type { Accept, Ref, StoredClaim } from '../mutations.ts';
import type { DispatchState } from '../states.ts';
import { claimKey } from './keys.ts';
import type { TallyWriter } from './tally-writer.ts';

/** False: the id is held already. */
export type TakeClaim = (claim: StoredClaim | null, now: number) => boolean;

export type InsertDispatch = (
  entry: Pick<Accept, 'dispatch' | 'max_concurrent'>,
  state: DispatchState,
  readyAt: number | null,
) => Ref;

/** True: nobody holds the id. */
export function createIsFree(db: Database.Database): TakeClaim {
  const held = db.prepare('SELECT 1 FROM claim WHERE key = ? AND expires_at > ?').raw();
  return (claim, now) => claim === null || held.get([claimKey(claim), now]) === undefined;
}

export function createTakeClaim(db: Database.Database): TakeClaim {
  const take = db.prepare(
    'INSERT INTO claim (key, expires_at) VALUES (?, ?) ' +
      'ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE claim.expires_at <= ?',
  );
  return (claim, now) => claim === null || take.run([claimKey(claim), claim.expires_at, now]).changes === 1;
}

export function createInsertDispatch(db: Database.Database, tally: TallyWriter): InsertDispatch {
  const insert = db.prepare(
    'INSERT INTO dispatch (id, profile, route, job, mode, accepted_at, max_concurrent, head, body) ' +
      'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const work = db.prepare('INSERT INTO work (ref, state, ready_at) VALUES (?, ?, ?)');
  return ({ dispatch: d, max_concurrent }, state, readyAt) => {
    const head = JSON.stringify([d.event, d.delivery_id, d.replay_of]);
    const row = [d.id, d.profile, d.route, d.job, d.mode, d.accepted_at, max_concurrent, head, JSON.stringify(d)];
    const ref = Number(insert.run(row).lastInsertRowid);
    work.run([ref, state, readyAt]);
    tally.add(d.profile, d.route, 'accepted', 1);
    tally.add(d.profile, d.route, state, 1);
    return ref;
  };
}
