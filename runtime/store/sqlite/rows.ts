/** The statements that the changes have in common: dispatches put in and moved from state to state, steps, claims. */

import type { DispatchHead, LargeTexts } from '../encode.ts';
import { claimKey, laneKey } from '../identity.ts';
import type { OpenDelivery, Ref, Step, StoredClaim } from '../mutations.ts';
import type { LastError } from '../queries.ts';
import type { DispatchState, OpenState } from '../states.ts';
import { isFinal } from '../states.ts';
import { Counts } from './counts.ts';
import type { Connection } from './driver.ts';
import { Turns } from './turns.ts';
import { ATTEMPTS, RUNS } from './work-queries.ts';

/** Numbers for the steps of one dispatch: more than any can have. */
const STEPS = 2 ** 20;
/** The first and the last id that a step of the dispatch can have. */
export const stepIds = (ref: Ref): readonly [number, number] => [ref * STEPS, ref * STEPS + STEPS - 1];

export interface NewDispatch {
  /** Default: the next one. */
  readonly ref?: Ref;
  readonly head: Omit<DispatchHead, 'targets'>;
  readonly texts: LargeTexts;
  /** Undefined: the route's limit stays as it is. */
  readonly max_concurrent?: number | null;
  readonly state: OpenState;
  readonly due_at: number;
  readonly now: number;
  readonly holder?: string | null;
  readonly superseded?: number;
}

export type WorkRow = readonly [
  state: DispatchState,
  holder: string | null,
  lane: string,
  failed: number,
  steps: number,
];

export interface Move {
  readonly to: DispatchState;
  readonly at: number;
  /** Null leaves it as it is. */
  readonly due_at?: number | null;
  readonly started_at?: number | null;
  readonly reason?: string | null;
  /** JSON. */
  readonly answer?: string | null;
  readonly steps?: readonly Step[];
}

export type Rows = ReturnType<typeof createRows>;

export function createRows(db: Connection) {
  const counts = new Counts(db);
  const runs = new Turns(db, RUNS);
  const attempts = new Turns(db, ATTEMPTS);
  const highest = db.query<[number]>('SELECT coalesce(max(ref), 0) FROM dispatch');
  const lastRef = (): Ref => highest.get()?.[0] ?? 0;
  let last = lastRef();

  const putDispatch = db.change('INSERT INTO dispatch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const putWork = db.change(
    'INSERT INTO work (ref, state, due_at, answered_at, lane, set_at, holder) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const putAnswer = db.change('INSERT OR REPLACE INTO answer VALUES (?, ?)');
  const putDelivery = db.change('INSERT INTO delivery VALUES (?, ?, ?, ?, ?, NULL)');
  const putStep = db.change('INSERT INTO step VALUES (?, ?)');
  const putClaim = db.change('INSERT OR REPLACE INTO claim VALUES (?, ?)');
  const takeFree = db.change(
    'INSERT INTO claim VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET expires_at = ?2 WHERE expires_at <= ?3',
  );
  const held = db.query('SELECT 1 FROM claim WHERE key = ? AND expires_at > ?');
  const find = db.query<WorkRow>('SELECT state, holder, lane, failed, steps FROM work WHERE ref = ?');
  const update = db.change(
    'UPDATE work SET state = ?, holder = NULL, due_at = coalesce(?, due_at), set_at = coalesce(?, set_at), reason = ?, ' +
      'started_at = coalesce(?, started_at), answered_at = coalesce(?, answered_at), finished_at = ?, ' +
      'failed = failed + ?, steps = ? WHERE ref = ?',
  );
  const idOf = db.query<[string, string | null]>('SELECT id, route FROM dispatch WHERE ref = ?');
  const putError = db.change("INSERT OR REPLACE INTO meta VALUES ('last_error', ?)");

  const rows = {
    db,
    counts,
    runs,
    attempts,
    /** Everything that is remembered of the tables, read again: after a rollback. */
    reload(): void {
      counts.reload();
      runs.reload();
      attempts.reload();
      last = lastRef();
    },
    insert({ head, texts, state, due_at, now, holder = null, superseded = 0, ...rest }: NewDispatch): Ref {
      const ref = rest.ref ?? last + 1;
      last = Math.max(last, ref);
      const { id, profile, route, job, mode, accepted_at } = head;
      const small = JSON.stringify([head.event, head.delivery_id, head.replay_of, superseded]);
      putDispatch(ref, id, profile, route, job, mode, accepted_at, rest.max_concurrent ?? null, small, texts.body);
      const counted = counts.of(profile, route);
      if (rest.max_concurrent !== undefined) counted.max_concurrent = rest.max_concurrent;
      putWork(ref, state, due_at, texts.answer === null ? null : now, counted.lane, now, holder);
      if (texts.answer !== null) putAnswer(ref, texts.answer);
      counts.change(counted, 'accepted', 1);
      counts.change(counted, state, 1);
      if (state === 'pending') runs.add(counted.lane, due_at, now);
      return ref;
    },
    addDeliveries(ref: Ref, profile: string, open: readonly OpenDelivery[], now: number): void {
      for (const { index, target, due_at } of open) {
        const lane = laneKey(profile, target);
        putDelivery(ref, index, lane, due_at, now);
        attempts.add(lane, due_at, now);
      }
    },
    find: (ref: Ref): WorkRow | undefined => find.get(ref),
    /** Moves a dispatch to a state, without a holder. */
    move(ref: Ref, [state, , lane, , steps]: WorkRow, m: Move): void {
      const { to, at, due_at = null, started_at = null, reason = null, answer = null } = m;
      const added = m.steps ?? [];
      const failed = added.filter(({ kind, outcome }) => kind === 'run' && outcome === 'failed').length;
      const reasonText = reason === null ? null : JSON.stringify(reason);
      const [answeredAt, finishedAt] = [answer === null ? null : at, isFinal(to) ? at : null];
      const setAt = due_at === null ? null : at;
      update(to, due_at, setAt, reasonText, started_at, answeredAt, finishedAt, failed, steps + added.length, ref);
      if (answer !== null) putAnswer(ref, answer);
      for (const [index, step] of added.entries()) putStep(ref * STEPS + steps + index + 1, JSON.stringify(step));
      if (state === to) return;
      const counted = counts.ofLane(lane);
      counts.change(counted, state, -1);
      counts.change(counted, to, 1);
      if (state === 'pending') runs.forget(lane);
      if (to === 'pending' && due_at !== null) runs.add(lane, due_at, at);
    },
    /** False: it is claimed already. */
    claimFree: (claim: StoredClaim | null, now: number): boolean =>
      claim === null || takeFree(claimKey(claim), claim.expires_at, now) > 0,
    claim(claim: StoredClaim | null | undefined): void {
      if (claim !== null && claim !== undefined) putClaim(claimKey(claim), claim.expires_at);
    },
    isClaimed: (claim: StoredClaim | null, now: number): boolean =>
      claim !== null && held.get(claimKey(claim), now) !== undefined,
    noteError(ref: Ref, at: number, reason: string): void {
      const [id, route] = idOf.get(ref) ?? ['', null];
      putError(JSON.stringify({ id, route, at, reason } satisfies LastError));
    },
  };
  return rows;
}
