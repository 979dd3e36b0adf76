/**
 * Units of work over the file: the rows of a unit are loaded when they are asked for (load-unit.ts), and what it has
 * changed is stored here, within the transaction of its group.
 */

import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref } from '../records.ts';
import type { Step } from '../states.ts';
import type { DeliveryRow, DispatchRow, HeadRow, JobRow, MessageRow, Rows, UnitRows, WorkRow } from '../unit/rows.ts';
import { WorkUnit } from '../unit/unit.ts';
import type { Connection, Value } from './driver.ts';
import { Memory, stepIds } from './memory.ts';
import { select } from './read-dispatches.ts';
import { NAMES } from './schema.ts';

export interface WriterRows {
  readonly db: Connection;
  readonly memory: Memory;
  /** Runs `work` over a unit of work and stores what it has changed. */
  inUnit<T>(work: (unit: WorkUnit) => T): T;
}

export function createRows(db: Connection): WriterRows {
  const memory = new Memory(db);
  const begin = createLoadUnit(db, memory);
  const store = createStoreUnit(db, memory);
  return {
    db,
    memory,
    inUnit(work) {
      const unit = new WorkUnit(begin());
      const result = work(unit);
      store(unit);
      return result;
    },
  };
}

const valuesOf = (row: object, names: readonly string[]): Value[] =>
  names.map((name) => (row as Readonly<Record<string, Value>>)[name] ?? null);

/** Returns a function that stores a new row, which has the names of its columns. */
function insertInto<R extends object>(db: Connection, table: keyof typeof NAMES): (row: R) => void {
  const names = NAMES[table];
  const insert = db.change(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`);
  return (row) => insert(...valuesOf(row, names));
}

function createStoreUnit(db: Connection, { counts, runs, attempts, pauses }: Memory): (unit: WorkUnit) => void {
  const addClaim = db.change('INSERT INTO claim VALUES (?, ?)');
  const renewClaim = db.change('UPDATE claim SET expires_at = ?2 WHERE key = ?1');
  const putDispatch = insertInto<DispatchRow>(db, 'dispatch');
  const replaceBody = db.change('UPDATE dispatch SET head = ?, body = ? WHERE ref = ?');
  const putMessage = db.change('INSERT OR REPLACE INTO message VALUES (?, ?, ?)');
  const putWork = insertInto<WorkRow>(db, 'work');
  const changing = NAMES.work.filter((name) => name !== 'ref');
  const updateWork = db.change(
    `UPDATE work SET ${changing.map((name) => `${name} = ?`).join(', ')}, finished_at = ? WHERE ref = ?`,
  );
  const unblock = db.change('UPDATE work SET blocked_by = NULL, set_at = ? WHERE ref = ?');
  const putGroup = db.change('INSERT OR REPLACE INTO coalesce_group VALUES (?, ?, ?, ?, 0, 0, ?)');
  const putAnswer = db.change('INSERT OR REPLACE INTO answer VALUES (?, ?, ?)');
  const putUsage = db.change('INSERT INTO usage VALUES (NULL, ?, ?, ?, ?, ?, ?)');
  const putStep = db.change('INSERT INTO step VALUES (?, ?)');
  const addDelivery = insertInto<DeliveryRow>(db, 'delivery');
  const retryDelivery = db.change(
    'UPDATE delivery SET due_at = ?, set_at = ?, holder = NULL, waiting = ? WHERE ref = ? AND n = ?',
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
    updateWork(...valuesOf(row, changing), finished_at, row.ref);
  };
  const storeWork = (unit: WorkUnit): void => {
    for (const { row, finished_at } of unit.ended) {
      update(row, finished_at);
      if (row.group_key === null) continue;
      runs.forget(row.lane);
      counts.groups--;
    }
    for (const row of unit.newWork) {
      if (unit.reopened.has(row.ref)) {
        update(row, null);
        continue;
      }
      const { ref, lane, state, due_at, set_at, group_key, blocked_by } = row;
      putWork(row);
      if (state === 'pending' && blocked_by === null) runs.add(lane, due_at, set_at);
      if (group_key === null) continue;
      putGroup(group_key, ref, row.first_at, due_at, row.superseded);
      counts.groups++;
    }
    for (const row of unit.changedWork) {
      update(row, null);
      if (row.state === 'pending') runs.add(row.lane, row.due_at, row.set_at);
    }
    for (const { ref, lane, due_at, set_at } of unit.unblocked) {
      unblock(set_at, ref);
      runs.add(lane, due_at, set_at);
    }
  };
  const storeDeliveries = ({ droppedDeliveries, newDeliveries, changedDeliveries }: WorkUnit): void => {
    for (const { ref, n } of droppedDeliveries) endDelivery(ref, n);
    for (const row of newDeliveries) {
      addDelivery(row);
      attempts.add(row.lane, row.due_at, row.set_at);
    }
    for (const { ref, n, lane, due_at, set_at, waiting } of changedDeliveries) {
      retryDelivery(due_at, set_at, waiting, ref, n);
      attempts.add(lane, due_at, set_at);
    }
  };
  return (unit) => {
    for (const [key, expires_at] of unit.newClaims) addClaim(key, expires_at);
    for (const [key, expires_at] of unit.laterClaims) renewClaim(key, expires_at);
    for (const row of unit.newDispatches) putDispatch(row);
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

/** Rows by key, each loaded when it is first asked for. */
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

  /** As far as it is loaded. */
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

/** Returns a function that forgets the rows of the unit before. */
function createLoadUnit(db: Connection, memory: Memory): () => UnitRows {
  const claim = db.query<[number]>('SELECT expires_at FROM claim WHERE key = ?');
  const work = select<WorkRow>(db, ALONE, 'FROM work w WHERE w.ref = ? AND w.finished_at IS NULL');
  const ended = select<WorkRow>(db, ALONE, 'FROM work w WHERE w.ref = ? AND w.finished_at IS NOT NULL');
  const message = select<MessageRow>(db, ['ref', 'ttl_ms'], 'FROM message WHERE key = ?');
  const group = select<WorkRow>(db, GROUPED, 'FROM coalesce_group g JOIN work w USING (ref) WHERE g.key = ?');
  // Of a session, one row has the turn, and a change makes at most one leave it.
  const session = select<WorkRow>(db, ALONE, 'FROM work w WHERE w.session = ? ORDER BY w.turn LIMIT 2');
  const deliveries = select<DeliveryRow>(db, NAMES.delivery, 'FROM delivery WHERE ref = ?');
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
  const loadSession = (key: string): readonly WorkRow[] =>
    session.all(key).map((found) => {
      const row = workRows.peek(found.ref) ?? found;
      workRows.set(row.ref, row);
      return row;
    });
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
