/** Statements that several changes share: they insert dispatches, move them between states, and store steps and claims. */

import { laneKey } from '../identity.ts';
import type { OpenDelivery, Ref } from '../mutations.ts';
import type { LastError } from '../queries.ts';
import type { Move, NewDispatch } from '../row-changes.ts';
import type { DispatchState } from '../states.ts';
import { isFinal } from '../states.ts';
import { createClaims } from './claims.ts';
import { Counts } from './counts.ts';
import type { Connection } from './driver.ts';
import { Turns } from './turns.ts';
import { ATTEMPTS, RUNS } from './work-queries.ts';

/** Range of step ids for one dispatch, larger than any needs. */
const STEPS = 2 ** 20;
/** The first and the last possible step id of a dispatch. */
export const stepIds = (ref: Ref): readonly [number, number] => [ref * STEPS, ref * STEPS + STEPS - 1];

interface NumberedDispatch extends NewDispatch {
  readonly superseded?: number;
}

export type WorkRow = readonly [
  state: DispatchState,
  holder: string | null,
  lane: string,
  failed: number,
  steps: number,
];

export type Rows = ReturnType<typeof createRows>;

export function createRows(db: Connection) {
  const memory = { counts: new Counts(db), runs: new Turns(db, RUNS), attempts: new Turns(db, ATTEMPTS) };
  const { insert, reloadLast } = createInsert(db, memory);
  const putDelivery = db.change('INSERT INTO delivery VALUES (?, ?, ?, ?, ?, NULL)');
  const find = db.query<WorkRow>('SELECT state, holder, lane, failed, steps FROM work WHERE ref = ?');
  const idOf = db.query<[string, string | null]>('SELECT id, route FROM dispatch WHERE ref = ?');
  const putError = db.change("INSERT OR REPLACE INTO meta VALUES ('last_error', ?)");
  return {
    db,
    ...memory,
    ...createClaims(db),
    insert,
    /** Moves a dispatch to a state and clears its holder. */
    move: createMove(db, memory),
    /** Reads all cached state from the tables again, after a rollback. */
    reload(): void {
      for (const part of Object.values(memory)) part.reload();
      reloadLast();
    },
    addDeliveries(ref: Ref, profile: string, open: readonly OpenDelivery[], now: number): void {
      for (const { index, target, due_at } of open) {
        const lane = laneKey(profile, target);
        putDelivery(ref, index, lane, due_at, now);
        memory.attempts.add(lane, due_at, now);
      }
    },
    find: (ref: Ref): WorkRow | undefined => find.get(ref),
    noteError(ref: Ref, at: number, reason: string): void {
      const [id, route] = idOf.get(ref) ?? ['', null];
      putError(JSON.stringify({ id, route, at, reason } satisfies LastError));
    },
  };
}

/** Cached state of the tables, which saves queries. */
interface Memory {
  readonly counts: Counts;
  readonly runs: Turns;
  readonly attempts: Turns;
}

const PUT_ANSWER = 'INSERT OR REPLACE INTO answer VALUES (?, ?)';

function createInsert(db: Connection, { counts, runs }: Memory) {
  const highest = db.query<[number]>('SELECT coalesce(max(ref), 0) FROM dispatch');
  const lastRef = (): Ref => highest.get()?.[0] ?? 0;
  let last = lastRef();
  const putDispatch = db.change('INSERT INTO dispatch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const putWork = db.change(
    'INSERT INTO work (ref, state, due_at, answered_at, lane, set_at, holder) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const putAnswer = db.change(PUT_ANSWER);
  return {
    reloadLast(): void {
      last = lastRef();
    },
    insert({ head, texts, state, due_at, now, holder = null, superseded = 0, ...rest }: NumberedDispatch): Ref {
      const ref = ++last;
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
  };
}

function createMove(db: Connection, { counts, runs }: Memory) {
  const update = db.change(
    'UPDATE work SET state = ?, holder = NULL, due_at = coalesce(?, due_at), set_at = coalesce(?, set_at), reason = ?, ' +
      'started_at = coalesce(?, started_at), answered_at = coalesce(?, answered_at), finished_at = ?, ' +
      'failed = failed + ?, steps = ? WHERE ref = ?',
  );
  const putAnswer = db.change(PUT_ANSWER);
  const putStep = db.change('INSERT INTO step VALUES (?, ?)');
  return (ref: Ref, [state, , lane, , steps]: WorkRow, m: Move): void => {
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
  };
}
