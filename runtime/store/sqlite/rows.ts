/**
 * Units of work over the file. The rows of a unit are loaded at their first use, and its changes are stored within the
 * transaction of its group.
 */

import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref } from '../records.ts';
import type { Step } from '../states.ts';
import type { UnitParts } from '../store-part.ts';
import type { DeliveryRow, HeadRow, JobRow, MessageRow, Rows, UnitRows, WorkRow } from '../unit/rows.ts';
import { WorkUnit } from '../unit/unit.ts';
import type { Connection, Row } from './driver.ts';
import { Memory, stepIds } from './memory.ts';
import { select } from './read-dispatches.ts';
import { NAMES } from './schema.ts';

export interface WriterRows {
  readonly db: Connection;
  readonly memory: Memory;
  /** Runs `work` over a unit of work and stores its changes. */
  inUnit<T>(work: (unit: WorkUnit) => T): T;
}

export function createRows(db: Connection, parts?: UnitParts): WriterRows {
  const memory = new Memory(db);
  const begin = createLoadUnit(db, memory);
  const store = createStoreUnit(db, memory);
  return {
    db,
    memory,
    inUnit(work) {
      const unit = new WorkUnit(begin(), parts);
      const result = work(unit);
      store(unit);
      return result;
    },
  };
}

function createStoreUnit(db: Connection, { counts, runs, attempts, pauses }: Memory): (unit: WorkUnit) => void {
  const addClaim = db.change('INSERT INTO claim VALUES (?, ?)');
  const renewClaim = db.change('UPDATE claim SET expires_at = ?2 WHERE key = ?1');
  const putDispatch = db.change('INSERT INTO dispatch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const replaceBody = db.change('UPDATE dispatch SET head = ?, body = ? WHERE ref = ?');
  const putMessage = db.change('INSERT OR REPLACE INTO message VALUES (?, ?, ?)');
  // The columns that differ from the defaults of a new row.
  const putWork = db.change(
    'INSERT INTO work (ref, lane, state, due_at, set_at, holder, answered_at, session, turn, blocked_by) ' +
      'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const updateWork = db.change(
    'UPDATE work SET state = ?, due_at = ?, set_at = ?, holder = ?, started_at = ?, answered_at = ?, reason = ?, ' +
      'failed = ?, steps = ?, session = ?, blocked_by = ?, finished_at = ? WHERE ref = ?',
  );
  const unblock = db.change('UPDATE work SET blocked_by = ?, set_at = ? WHERE ref = ?');
  const putGroup = db.change('INSERT OR REPLACE INTO coalesce_group VALUES (?, ?, ?, ?, 0, 0, ?)');
  const endGroup = db.change('DELETE FROM coalesce_group WHERE ref = ?');
  const putAnswer = db.change('INSERT OR REPLACE INTO answer VALUES (?, ?, ?)');
  const putUsage = db.change('INSERT INTO usage VALUES (NULL, ?, ?, ?, ?, ?, ?)');
  const putStep = db.change('INSERT INTO step VALUES (?, ?)');
  const addDelivery = db.change('INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const retryDelivery = db.change(
    'UPDATE delivery SET due_at = ?, set_at = ?, holder = NULL, blocked_by = ?, told_at = ? WHERE ref = ? AND n = ?',
  );
  const endDelivery = db.change('DELETE FROM delivery WHERE ref = ? AND n = ?');
  const putJob = db.change(
    'INSERT INTO job_state (job, cursor, ref) VALUES (?1, ?2, ?3) ON CONFLICT (job) DO UPDATE SET cursor = ?2, ref = ?3',
  );
  const putTick = db.change('INSERT INTO job_tick (job, due_at, outcome, ref, missed) VALUES (?, ?, ?, ?, ?)');
  const putGuard = db.change('INSERT OR REPLACE INTO guard_state VALUES (?, ?, ?, ?, ?)');
  const removeGuard = db.change('DELETE FROM guard_state WHERE id = ?');
  const putError = db.change("INSERT OR REPLACE INTO meta VALUES ('last_error', ?)");

  const update = (row: WorkRow, finished_at: number | null): void => {
    const { ref, state, due_at, set_at, holder, started_at, answered_at, reason, failed, steps } = row;
    const outcome = [started_at, answered_at, reason, failed, steps] as const;
    updateWork(state, due_at, set_at, holder, ...outcome, row.session, row.blocked_by, finished_at, ref);
  };
  const storeWork = (unit: WorkUnit): void => {
    for (const { row, finished_at } of unit.ended) {
      update(row, finished_at);
      if (row.group_key === null) continue;
      endGroup(row.ref);
      runs.forget(row.lane);
      counts.groups--;
    }
    for (const row of unit.newWork) {
      if (unit.reopened.has(row.ref)) {
        update(row, null);
        continue;
      }
      const { ref, lane, state, due_at, set_at, holder, answered_at, group_key, session, turn, blocked_by } = row;
      putWork(ref, lane, state, due_at, set_at, holder, answered_at, session, turn, blocked_by);
      if (state === 'pending' && blocked_by === null) runs.add(lane, due_at, set_at);
      if (group_key === null) continue;
      putGroup(group_key, ref, row.first_at, due_at, row.superseded);
      counts.groups++;
    }
    for (const row of unit.changedWork) {
      update(row, null);
      if (row.state === 'pending') runs.add(row.lane, row.due_at, row.set_at);
    }
    for (const { ref, lane, due_at, set_at, blocked_by } of unit.unblocked) {
      unblock(blocked_by, set_at, ref);
      if (blocked_by === null) runs.add(lane, due_at, set_at);
    }
  };
  const storeDeliveries = ({ droppedDeliveries, newDeliveries, changedDeliveries }: WorkUnit): void => {
    for (const { ref, n } of droppedDeliveries) endDelivery(ref, n);
    for (const { ref, n, lane, due_at, set_at, holder, blocked_by, told_at } of newDeliveries) {
      addDelivery(ref, n, lane, due_at, set_at, holder, blocked_by, told_at);
      attempts.add(lane, due_at, set_at);
    }
    for (const { ref, n, lane, due_at, set_at, blocked_by, told_at } of changedDeliveries) {
      retryDelivery(due_at, set_at, blocked_by, told_at, ref, n);
      attempts.add(lane, due_at, set_at);
    }
  };
  return (unit) => {
    for (const [key, expires_at] of unit.newClaims) addClaim(key, expires_at);
    for (const [key, expires_at] of unit.renewedClaims) renewClaim(key, expires_at);
    for (const row of unit.newDispatches) {
      const { ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, body, session, burst } = row;
      putDispatch(ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, body, session, burst);
    }
    for (const { ref, head, body } of unit.changedBodies) replaceBody(head, body, ref);
    for (const [key, { ref, ttl_ms }] of [...unit.newMessages, ...unit.changedMessages]) putMessage(key, ref, ttl_ms);
    storeWork(unit);
    storeDeliveries(unit);
    for (const [ref, { text, program }] of unit.answers) putAnswer(ref, text, program);
    for (const { ref, n, step } of unit.newSteps) putStep(stepIds(ref)[0] + n, JSON.stringify(step));
    for (const { ref, at, agent, input_tokens, output_tokens, cost } of unit.newUsage)
      putUsage(ref, at, agent, input_tokens, output_tokens, cost);
    for (const { job, cursor, ref } of unit.changedJobs) putJob(job, cursor, ref);
    for (const { job, due_at, outcome, ref, missed } of unit.newTicks) putTick(job, due_at, outcome, ref, missed);
    for (const [id, { kind, key, body, expires_at }] of unit.changedGuard) {
      if (body === null) removeGuard(id);
      else putGuard(id, kind, JSON.stringify(key), body, expires_at);
      if (kind === 'pause') pauses.put(key, body);
    }
    if (unit.lastError !== null) putError(JSON.stringify(unit.lastError));
    for (const [lane, max_concurrent] of unit.newLimits) counts.ofLane(lane).max_concurrent = max_concurrent;
    for (const [lane, column, by] of unit.counts) counts.change(counts.ofLane(lane), column, by);
  };
}

/** Rows by key, each loaded at its first use. */
class LoadedRows<K, V> implements Rows<K, V> {
  private rows = new Map<K, V | undefined>();
  private readonly load: (key: K) => V | undefined;

  constructor(load: (key: K) => V | undefined) {
    this.load = load;
  }

  get(key: K): V | undefined {
    if (!this.rows.has(key)) this.rows.set(key, this.load(key));
    return this.rows.get(key);
  }

  /** The row, if it is loaded. */
  peek(key: K): V | undefined {
    return this.rows.get(key);
  }

  set(key: K, row: V): void {
    this.rows.set(key, row);
  }

  delete(key: K): void {
    this.rows.set(key, undefined);
  }

  clear(): void {
    if (this.rows.size > 0) this.rows = new Map();
  }
}

const WORK = NAMES.work.map((name) => (name === 'turn' ? 'coalesce(w.turn, w.ref) AS turn' : `w.${name}`));
const ALONE = [...WORK, 'NULL AS group_key', 'NULL AS first_at', '0 AS superseded'];
const GROUPED = [...WORK, 'g.key AS group_key', 'g.first_at', 'g.superseded'];
const OF_SESSION = [...WORK, 'g.key AS group_key', 'g.first_at', 'coalesce(g.superseded, 0) AS superseded'];

const placesOf = <Name extends string>(names: readonly string[]): Readonly<Record<Name, number>> =>
  Object.fromEntries(names.map((name, at) => [name, at])) as Readonly<Record<Name, number>>;

// Literals, here and above: measured, rows that are created and stored in loops take a tenth of the cost of a dispatch.
const W = placesOf<keyof WorkRow>([...NAMES.work, 'group_key', 'first_at', 'superseded']);
const readWork = (values: Row): WorkRow => ({
  ref: values[W.ref] as Ref,
  lane: values[W.lane] as string,
  state: values[W.state] as WorkRow['state'],
  due_at: values[W.due_at] as number,
  set_at: values[W.set_at] as number,
  holder: values[W.holder] as string | null,
  started_at: values[W.started_at] as number | null,
  answered_at: values[W.answered_at] as number | null,
  reason: values[W.reason] as string | null,
  failed: values[W.failed] as number,
  steps: values[W.steps] as number,
  group_key: values[W.group_key] as string | null,
  first_at: values[W.first_at] as number | null,
  superseded: values[W.superseded] as number,
  session: values[W.session] as string | null,
  turn: values[W.turn] as Ref,
  blocked_by: values[W.blocked_by] as WorkRow['blocked_by'],
});
const D = placesOf<keyof DeliveryRow>(NAMES.delivery);
const readDelivery = (values: Row): DeliveryRow => ({
  ref: values[D.ref] as Ref,
  n: values[D.n] as number,
  lane: values[D.lane] as string,
  due_at: values[D.due_at] as number,
  set_at: values[D.set_at] as number,
  holder: values[D.holder] as string | null,
  blocked_by: values[D.blocked_by] as DeliveryRow['blocked_by'],
  told_at: values[D.told_at] as number | null,
});

/** Returns a function that forgets the rows of the previous unit. */
function createLoadUnit(db: Connection, memory: Memory): () => UnitRows {
  const claim = db.query<[number]>('SELECT expires_at FROM claim WHERE key = ?');
  const work = select(db, ALONE, 'FROM work w WHERE w.ref = ? AND w.finished_at IS NULL', readWork);
  const ended = select(db, ALONE, 'FROM work w WHERE w.ref = ? AND w.finished_at IS NOT NULL', readWork);
  const message = select<MessageRow>(db, ['ref', 'ttl_ms'], 'FROM message WHERE key = ?');
  const group = select(db, GROUPED, 'FROM coalesce_group g JOIN work w USING (ref) WHERE g.key = ?', readWork);
  // One row of a session has the turn, and a change removes at most one.
  const session = select(db, ALONE, 'FROM work w WHERE w.session = ? ORDER BY w.turn LIMIT 2', readWork);
  const ofSession = 'FROM work w LEFT JOIN coalesce_group g USING (ref) WHERE w.session = ? ORDER BY w.turn';
  const wholeSession = select(db, OF_SESSION, ofSession, readWork);
  const deliveries = select(db, NAMES.delivery, 'FROM delivery WHERE ref = ?', readDelivery);
  const job = select<JobRow>(db, ['job', 'paused', 'paused_until', 'cursor', 'ref'], 'FROM job_state WHERE job = ?');
  const head = select<HeadRow>(db, ['id', 'profile', 'route', 'job'], 'FROM dispatch WHERE ref = ?');
  const body = db.query<[string]>('SELECT body FROM dispatch WHERE ref = ?');
  const steps = db.query<[string]>('SELECT data FROM step WHERE id BETWEEN ? AND ? ORDER BY id');
  const guard = db.query<[string]>('SELECT body FROM guard_state WHERE id = ?');
  const tick = db.query('SELECT 1 FROM job_tick WHERE job = ? AND due_at = ?');

  const workRows = new LoadedRows(work.get);
  const loadGroup = (key: string): Ref | undefined => {
    const row = group.get(key);
    if (row !== undefined) workRows.set(row.ref, row);
    return row?.ref;
  };
  const loadedOnce = (found: WorkRow): WorkRow => {
    const row = workRows.peek(found.ref) ?? found;
    workRows.set(row.ref, row);
    return row;
  };
  const loadSession = (key: string): readonly WorkRow[] => session.all(key).map(loadedOnce);
  const loadJob = (name: string): JobRow | undefined => {
    const row = job.get(name);
    return row === undefined ? undefined : { ...row, paused: row.paused === null ? null : Boolean(row.paused) };
  };
  const loaded = {
    claims: new LoadedRows((key: string) => claim.get(key)?.[0]),
    limits: new LoadedRows((lane: string) => memory.counts.ofLane(lane).max_concurrent),
    work: workRows,
    ended: new LoadedRows(ended.get),
    messages: new LoadedRows(message.get),
    groups: new LoadedRows(loadGroup),
    sessions: new LoadedRows(loadSession),
    deliveries: new LoadedRows((ref: Ref) => new Map(deliveries.all(ref).map((row) => [row.n, row]))),
    jobs: new LoadedRows(loadJob),
    guard: new LoadedRows((key: string) => guard.get(key)?.[0]),
  };
  const all = Object.values(loaded);
  const rows: UnitRows = {
    ...loaded,
    nextRef: () => ++memory.lastRef,
    keyOf: (json) => json,
    wholeSession(key) {
      const found = wholeSession.all(key).map(loadedOnce);
      loaded.sessions.set(key, found);
      return found;
    },
    headOf: head.get,
    bodyOf: (ref) => body.get(ref)?.[0],
    targetsOf: (ref) => (JSON.parse(body.get(ref)?.[0] ?? '{"deliveries":[]}') as Dispatch).deliveries,
    stepsOf: (ref) => steps.all(...stepIds(ref)).map(([data]) => JSON.parse(data) as Step),
    hasTick: (name, due_at) => tick.get(name, due_at) !== undefined,
  };
  return () => {
    for (const part of all) part.clear();
    return rows;
  };
}
