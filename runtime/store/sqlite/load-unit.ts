/** Loads the rows of a unit of work, each when it is first asked for: with everything local, these are cheap point queries. */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref } from '../identity.ts';
import type { DispatchState, Step } from '../states.ts';
import type { DeliveryRow, HeadRow, JobRow, MessageRow, Rows, UnitRows, WorkRow } from '../unit/rows.ts';
import type { Connection } from './driver.ts';
import type { Memory } from './memory.ts';
import { stepIds } from './memory.ts';

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

const WORK =
  'w.ref, w.lane, w.state, w.due_at, w.set_at, w.holder, w.started_at, w.answered_at, w.reason, w.failed, w.steps, ' +
  'w.session, coalesce(w.turn, w.ref), w.blocked_by';
type WorkColumns = readonly [
  ref: Ref,
  lane: string,
  state: DispatchState,
  due_at: number,
  set_at: number,
  holder: string | null,
  started_at: number | null,
  answered_at: number | null,
  reason: string | null,
  failed: number,
  steps: number,
  session: string | null,
  turn: Ref,
  blocked_by: WorkRow['blocked_by'],
];
type GroupColumns = readonly [...WorkColumns, key: string, first_at: number, superseded: number];

function readWork(columns: WorkColumns | GroupColumns): WorkRow {
  const [ref, lane, state, due_at, set_at, holder, started_at, answered_at, reason, failed, steps, ...more] = columns;
  const [session, turn, blocked_by, group_key = null, first_at = null, superseded = 0] = more;
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
    session,
    turn,
    blocked_by,
  };
}

/** Returns a function that forgets the rows of the unit before. */
export function createLoadUnit(db: Connection, memory: Memory): () => UnitRows {
  const claim = db.query<[number]>('SELECT expires_at FROM claim WHERE key = ?');
  const work = db.query<WorkColumns>(`SELECT ${WORK} FROM work w WHERE w.ref = ? AND w.finished_at IS NULL`);
  const ended = db.query<WorkColumns>(`SELECT ${WORK} FROM work w WHERE w.ref = ? AND w.finished_at IS NOT NULL`);
  const message = db.query<[Ref, number]>('SELECT ref, ttl_ms FROM message WHERE key = ?');
  const group = db.query<GroupColumns>(
    `SELECT ${WORK}, g.key, g.first_at, g.superseded FROM coalesce_group g JOIN work w USING (ref) WHERE g.key = ?`,
  );
  // Of a session, one row has the turn, and a change makes at most one leave it.
  const session = db.query<WorkColumns>(`SELECT ${WORK} FROM work w WHERE w.session = ? ORDER BY w.turn LIMIT 2`);
  const deliveries = db.query<[number, string, number, number, string | null, DeliveryRow['waiting']]>(
    'SELECT n, lane, due_at, set_at, holder, waiting FROM delivery WHERE ref = ?',
  );
  const job = db.query<[number | null, number | null, number | null, Ref | null]>(
    'SELECT paused, paused_until, cursor, ref FROM job_state WHERE job = ?',
  );
  const head = db.query<[string, string, string | null, string | null]>(
    'SELECT id, profile, route, job FROM dispatch WHERE ref = ?',
  );
  const body = db.query<[string]>('SELECT body FROM dispatch WHERE ref = ?');
  const steps = db.query<[string]>('SELECT data FROM step WHERE id BETWEEN ? AND ? ORDER BY id');
  const guard = db.query<[string]>('SELECT body FROM guard_state WHERE id = ?');
  const tick = db.query('SELECT 1 FROM job_tick WHERE job = ? AND due_at = ?');

  const loadFrom =
    (rows: typeof work) =>
    (ref: Ref): WorkRow | undefined => {
      const found = rows.get(ref);
      return found === undefined ? undefined : readWork(found);
    };
  const loadMessage = (key: string): MessageRow | undefined => {
    const [ref, ttl_ms] = message.get(key) ?? [];
    return ref === undefined || ttl_ms === undefined ? undefined : { ref, ttl_ms };
  };
  const loadDeliveries = (ref: Ref): Map<number, DeliveryRow> =>
    new Map(
      deliveries
        .all(ref)
        .map(([n, lane, due_at, set_at, holder, waiting]) => [n, { ref, n, lane, due_at, set_at, holder, waiting }]),
    );
  const loadJob = (name: string): JobRow | undefined => {
    const found = job.get(name);
    if (found === undefined) return undefined;
    const [paused, paused_until, cursor, ref] = found;
    return { job: name, paused: paused === null ? null : paused === 1, paused_until, cursor, ref };
  };
  const headOf = (ref: Ref): HeadRow | undefined => {
    const found = head.get(ref);
    if (found === undefined) return undefined;
    const [id, profile, route, ofJob] = found;
    return { id, profile, route, job: ofJob };
  };
  const workRows = new LoadedRows(loadFrom(work));
  const loadGroup = (key: string): Ref | undefined => {
    const found = group.get(key);
    if (found === undefined) return undefined;
    const row = readWork(found);
    workRows.set(row.ref, row);
    return row.ref;
  };
  const loadSession = (key: string): readonly WorkRow[] =>
    session.all(key).map((columns) => {
      const row = workRows.peek(columns[0]) ?? readWork(columns);
      workRows.set(row.ref, row);
      return row;
    });
  const loaded = {
    claims: new LoadedRows((key: string) => claim.get(key)?.[0]),
    limits: new LoadedRows((lane: string) => memory.counts.ofLane(lane).max_concurrent),
    work: workRows,
    ended: new LoadedRows(loadFrom(ended)),
    messages: new LoadedRows(loadMessage),
    groups: new LoadedRows(loadGroup),
    sessions: new LoadedRows(loadSession),
    deliveries: new LoadedRows(loadDeliveries),
    jobs: new LoadedRows(loadJob),
    guard: new LoadedRows((key: string) => guard.get(key)?.[0]),
  };
  const all = Object.values(loaded);
  const rows: UnitRows = {
    ...loaded,
    nextRef: () => ++memory.lastRef,
    keyOf: (json) => json,
    headOf,
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
