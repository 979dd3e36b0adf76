/** Storing a dispatch and holding its delivery id, as SQL. */
import type Database from 'libsql';
import { claimKey } from '../claim-key.ts';
import type { Accept, Ref, StoredClaim } from '../mutations.ts';
import type { OpenState } from '../states.ts';
import type { NewRows } from './new-rows.ts';
import type { OpenRows } from './open-rows.ts';
import type { TallyWriter } from './tally-writer.ts';

/** False: the id is held already. */
export type TakeClaim = (claim: StoredClaim | null, now: number) => boolean;

export type InsertDispatch = (
  entry: Pick<Accept, 'dispatch' | 'max_concurrent'>,
  state: OpenState,
  readyAt: number | null,
) => Ref;

/** True: nobody holds the id. */
export function createIsFree(db: Database.Database): TakeClaim {
  const held = db.prepare('SELECT 1 FROM claim WHERE key = ? AND expires_at > ?').raw();
  return (claim, now) => claim === null || held.get([claimKey(claim), now]) === undefined;
}

/** Certain at once, for a batch in which a claim turned out to be held. */
export function createTakeClaim(db: Database.Database): TakeClaim {
  const take = db.prepare(
    'INSERT INTO claim (key, expires_at) VALUES (?, ?) ' +
      'ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE claim.expires_at <= ?',
  );
  return (claim, now) => claim === null || take.run([claimKey(claim), claim.expires_at, now]).changes === 1;
}

export function createInsertDispatch(rows: NewRows, open: OpenRows, tally: TallyWriter): InsertDispatch {
  return ({ dispatch: d, max_concurrent }, state, readyAt) => {
    const ref = rows.next();
    const head = JSON.stringify([d.event, d.delivery_id, d.replay_of]);
    const { id, profile, route, job, mode, accepted_at } = d;
    rows.dispatches.add(ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, JSON.stringify(d));
    rows.work.add(ref, state, readyAt);
    open.add(ref, { state, profile: d.profile, route: d.route, id: d.id, steps: 0 });
    tally.add(d.profile, d.route, 'accepted', 1);
    tally.add(d.profile, d.route, state, 1);
    return ref;
  };
}
