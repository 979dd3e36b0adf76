/**
 * Loads the rows of a unit of work, each when it is first asked for, and stores what the unit has changed. The writer is
 * the only one that changes the file, so counts, lanes and the latest number are kept in memory.
 */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref, Step } from '../mutations.ts';
import type { DispatchState } from '../states.ts';
import type { DeliveryRow, HeadRow, JobRow, Rows, UnitRows, WorkRow } from '../unit/rows.ts';
import { WorkUnit } from '../unit/unit.ts';
import { Counts } from './counts.ts';
import type { Connection } from './driver.ts';
import { ATTEMPTS, RUNS, Turns } from './turns.ts';

/** Range of step ids for one dispatch, larger than any needs. */
const STEPS = 2 ** 20;
/** The first and the last possible step id of a dispatch. */
export const stepIds = (ref: Ref): readonly [number, number] => [ref * STEPS, ref * STEPS + STEPS - 1];

/** What the writer knows of the tables without asking. */
class Memory {
  readonly counts: Counts;
  readonly runs: Turns;
  readonly attempts: Turns;
  lastRef: Ref;
  private readonly highestRef: () => Ref;

  constructor(db: Connection) {
    this.counts = new Counts(db);
    this.runs = new Turns(db, RUNS);
    this.attempts = new Turns(db, ATTEMPTS);
    const highest = db.query<[number]>('SELECT coalesce(max(ref), 0) FROM dispatch');
    this.highestRef = () => highest.get()?.[0] ?? 0;
    this.lastRef = this.highestRef();
  }

  /** Reads all of it again, after a rollback. */
  reload(): void {
    for (const part of [this.counts, this.runs, this.attempts]) part.reload();
    this.lastRef = this.highestRef();
  }
}

export interface WriterRows {
  readonly db: Connection;
  readonly memory: Memory;
  /** Runs `work` over a unit of work and stores what it has changed. */
  inUnit<T>(work: (unit: WorkUnit) => T): T;
}

export function createRows(db: Connection): WriterRows {
  const memory = new Memory(db);
  const begin = createLoad(db, memory);
  const store = createStore(db, memory);
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

const WORK =
  'w.ref, w.lane, w.state, w.due_at, w.set_at, w.holder, w.started_at, w.answered_at, w.reason, w.failed, w.steps';
type WorkColumns = readonly [
  ...[ref: Ref, lane: string, state: DispatchState, due_at: number, set_at: number, holder: string | null],
  ...[started_at: number | null, answered_at: number | null, reason: string | null, failed: number, steps: number],
];
type GroupColumns = readonly [...WorkColumns, key: string, first_at: number, superseded: number];

function readWork(columns: WorkColumns | GroupColumns): WorkRow {
  const [ref, lane, state, due_at, set_at, holder, started_at, answered_at, reason, failed, steps] = columns;
  const [, , , , , , , , , , , group_key = null, first_at = null, superseded = 0] = columns;
  // A plain literal, because spreads of this size are slow.
  return {
    ref,
    lane,
    state,
    due_at,
    set_at,
    holder,
    started_at,
    answered_at,
    reason,
    failed,
    steps,
    group_key,
    first_at,
    superseded,
  };
}

/** Returns a function that forgets the rows of the unit before. */
function createLoad(db: Connection, memory: Memory): () => UnitRows {
  const claim = db.query<[number]>('SELECT expires_at FROM claim WHERE key = ?');
  const work = db.query<WorkColumns>(`SELECT ${WORK} FROM work w WHERE w.ref = ? AND w.finished_at IS NULL`);
  const group = db.query<GroupColumns>(
    `SELECT ${WORK}, g.key, g.first_at, g.superseded FROM coalesce_group g JOIN work w USING (ref) WHERE g.key = ?`,
  );
  const deliveries = db.query<[number, string, number, number, string | null]>(
    'SELECT n, lane, due_at, set_at, holder FROM delivery WHERE ref = ?',
  );
  const job = db.query<[number | null, number | null, Ref | null, number]>(
    "SELECT s.paused, s.cursor, s.ref, coalesce(w.state IN ('pending', 'running'), 0) " +
      'FROM job_state s LEFT JOIN work w ON w.ref = s.ref WHERE s.job = ?',
  );
  const head = db.query<[string, string, string | null, string | null]>(
    'SELECT id, profile, route, job FROM dispatch WHERE ref = ?',
  );
  const body = db.query<[string]>('SELECT body FROM dispatch WHERE ref = ?');
  const steps = db.query<[string]>('SELECT data FROM step WHERE id BETWEEN ? AND ? ORDER BY id');
  const tick = db.query('SELECT 1 FROM job_tick WHERE job = ? AND due_at = ?');

  const loadWork = (ref: Ref): WorkRow | undefined => {
    const found = work.get(ref);
    return found === undefined ? undefined : readWork(found);
  };
  const loadDeliveries = (ref: Ref): Map<number, DeliveryRow> =>
    new Map(
      deliveries.all(ref).map(([n, lane, due_at, set_at, holder]) => [n, { ref, n, lane, due_at, set_at, holder }]),
    );
  const loadJob = (name: string): JobRow | undefined => {
    const found = job.get(name);
    if (found === undefined) return undefined;
    const [paused, cursor, ref, running] = found;
    return { job: name, paused: paused === null ? null : paused === 1, cursor, ref, running: running === 1 };
  };
  const headOf = (ref: Ref): HeadRow | undefined => {
    const found = head.get(ref);
    if (found === undefined) return undefined;
    const [id, profile, route, ofJob] = found;
    return { id, profile, route, job: ofJob };
  };
  const workRows = new LoadedRows(loadWork);
  const loadGroup = (key: string): Ref | undefined => {
    const found = group.get(key);
    if (found === undefined) return undefined;
    const row = readWork(found);
    workRows.set(row.ref, row);
    return row.ref;
  };
  const loaded = {
    claims: new LoadedRows((key: string) => claim.get(key)?.[0]),
    limits: new LoadedRows((lane: string) => memory.counts.ofLane(lane).max_concurrent),
    work: workRows,
    groups: new LoadedRows(loadGroup),
    deliveries: new LoadedRows(loadDeliveries),
    jobs: new LoadedRows(loadJob),
  };
  const all = Object.values(loaded);
  const rows: UnitRows = {
    ...loaded,
    isShared: false,
    nextRef: () => ++memory.lastRef,
    keyOf: (json) => json,
    headOf,
    targetsOf: (ref) => (JSON.parse(body.get(ref)?.[0] ?? '{"deliveries":[]}') as Dispatch).deliveries,
    stepsOf: (ref) => steps.all(...stepIds(ref)).map(([data]) => JSON.parse(data) as Step),
    hasTick: (name, due_at) => tick.get(name, due_at) !== undefined,
  };
  return () => {
    for (const part of all) part.clear();
    return rows;
  };
}

function createStore(db: Connection, { counts, runs, attempts }: Memory): (unit: WorkUnit) => void {
  const addClaim = db.change('INSERT INTO claim VALUES (?, ?)');
  const renewClaim = db.change('UPDATE claim SET expires_at = ?2 WHERE key = ?1');
  const putDispatch = db.change('INSERT INTO dispatch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const putWork = db.change(
    'INSERT INTO work (ref, lane, state, due_at, set_at, holder, answered_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const updateWork = db.change(
    'UPDATE work SET state = ?, due_at = ?, set_at = ?, holder = ?, started_at = ?, answered_at = ?, reason = ?, ' +
      'failed = ?, steps = ?, finished_at = ? WHERE ref = ?',
  );
  const putGroup = db.change('INSERT OR REPLACE INTO coalesce_group VALUES (?, ?, ?, ?, 0, 0, ?)');
  const putAnswer = db.change('INSERT OR REPLACE INTO answer VALUES (?, ?)');
  const putStep = db.change('INSERT INTO step VALUES (?, ?)');
  const addDelivery = db.change('INSERT INTO delivery VALUES (?, ?, ?, ?, ?, ?)');
  const retryDelivery = db.change('UPDATE delivery SET due_at = ?, set_at = ?, holder = NULL WHERE ref = ? AND n = ?');
  const endDelivery = db.change('DELETE FROM delivery WHERE ref = ? AND n = ?');
  const putJob = db.change(
    'INSERT INTO job_state (job, cursor, ref) VALUES (?1, ?2, ?3) ON CONFLICT (job) DO UPDATE SET cursor = ?2, ref = ?3',
  );
  const putTick = db.change('INSERT INTO job_tick (job, due_at, outcome, ref, missed) VALUES (?, ?, ?, ?, ?)');
  const putError = db.change("INSERT OR REPLACE INTO meta VALUES ('last_error', ?)");

  const update = (row: WorkRow, finished_at: number | null): void => {
    const { ref, state, due_at, set_at, holder, started_at, answered_at, reason, failed, steps } = row;
    updateWork(state, due_at, set_at, holder, started_at, answered_at, reason, failed, steps, finished_at, ref);
  };
  const storeWork = (unit: WorkUnit): void => {
    for (const { row, finished_at } of unit.ended) {
      update(row, finished_at);
      if (row.group_key === null) continue;
      runs.forget(row.lane);
      counts.groups--;
    }
    for (const row of unit.newWork) {
      const { ref, lane, state, due_at, set_at, holder, answered_at, group_key } = row;
      putWork(ref, lane, state, due_at, set_at, holder, answered_at);
      if (state === 'pending') runs.add(lane, due_at, set_at);
      if (group_key === null) continue;
      putGroup(group_key, ref, row.first_at, due_at, row.superseded);
      counts.groups++;
    }
    for (const row of unit.changedWork) {
      update(row, null);
      if (row.state === 'pending') runs.add(row.lane, row.due_at, row.set_at);
    }
  };
  const storeDeliveries = ({ droppedDeliveries, newDeliveries, changedDeliveries }: WorkUnit): void => {
    for (const { ref, n } of droppedDeliveries) endDelivery(ref, n);
    for (const { ref, n, lane, due_at, set_at, holder } of newDeliveries) {
      addDelivery(ref, n, lane, due_at, set_at, holder);
      attempts.add(lane, due_at, set_at);
    }
    for (const { ref, n, lane, due_at, set_at } of changedDeliveries) {
      retryDelivery(due_at, set_at, ref, n);
      attempts.add(lane, due_at, set_at);
    }
  };
  return (unit) => {
    for (const [key, expires_at] of unit.newClaims) addClaim(key, expires_at);
    for (const [key, expires_at] of unit.laterClaims) renewClaim(key, expires_at);
    for (const row of unit.newDispatches) {
      const { ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, body } = row;
      putDispatch(ref, id, profile, route, job, mode, accepted_at, max_concurrent, head, body);
    }
    storeWork(unit);
    storeDeliveries(unit);
    for (const [ref, { text }] of unit.answers) putAnswer(ref, text);
    for (const { ref, n, step } of unit.newSteps) putStep(ref * STEPS + n, JSON.stringify(step));
    for (const { job, cursor, ref } of unit.changedJobs) putJob(job, cursor, ref);
    for (const { job, due_at, outcome, ref, missed } of unit.newTicks) putTick(job, due_at, outcome, ref, missed);
    if (unit.lastError !== null) putError(JSON.stringify(unit.lastError));
    for (const [lane, max_concurrent] of unit.newLimits) counts.ofLane(lane).max_concurrent = max_concurrent;
    for (const [lane, column, by] of unit.counts) counts.change(counts.ofLane(lane), column, by);
  };
}
