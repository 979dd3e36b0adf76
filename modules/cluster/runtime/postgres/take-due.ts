/**
 * Takes due work: reads the due rows, chooses among the lanes in turn, and takes the chosen rows that no other gateway has
 * taken meanwhile. For lanes with a limit, the row in `lane` is locked first, and their runs are counted under that lock.
 */
import { laneKey } from '../../../../runtime/store/identity.ts';
import type { MutationResults, Ref, TakenAttempt, TakenRun, TakeWork } from '../../../../runtime/store/mutations.ts';
import {
  COUNT_RUNNING,
  DUE_ATTEMPTS,
  DUE_RUNS,
  LOCK_LIMITS,
  TAKE_ATTEMPTS,
  TAKE_RUNS,
  WAITING,
} from './due-queries.ts';
import { ADD_COUNTS, CountChanges } from './tables.ts';
import type { Scope } from './transact.ts';

interface Lane<Row> {
  readonly lane: string;
  readonly due_at: number;
  readonly later: number | null;
  /** In order. */
  readonly due: readonly Row[];
}

type DueRun = { readonly ref: Ref; readonly grouped: boolean };
type DueAttempt = { readonly ref: Ref; readonly n: number };
type RunLane = Lane<DueRun> & { readonly max_concurrent: number | null };
type AttemptLane = Lane<DueAttempt> & { readonly held: number };

/** Wait before the next try when another gateway was taking from the same lane, in ms. */
const BUSY_LANE_MS = 20;

/** Runs `take_work` (../mutations.ts). */
export async function takeWork(scope: Scope, turns: LaneTurns, m: TakeWork): Promise<MutationResults['take_work']> {
  const { db } = scope;
  const [runLanes, attemptLanes, [counted]] = await Promise.all([
    db.query<RunLane>(DUE_RUNS, [m.now, m.holder, m.runs]),
    db.query<AttemptLane>(DUE_ATTEMPTS, [m.now, m.holder, m.attempts]),
    db.query<{ waiting: number }>(WAITING),
  ]);
  const limits = await roomOf(scope, runLanes);
  const dueRuns = choose(turns, runLanes, {
    ...{ kind: 'run', limit: m.runs },
    room: ({ lane, max_concurrent }) => (max_concurrent === null ? m.runs : (limits.room.get(lane) ?? 0)),
  });
  const dueAttempts = choose(turns, attemptLanes, {
    ...{ kind: 'attempt', limit: m.attempts },
    room: ({ held }) => m.attempts_per_target - held,
  });
  const [runs, attempts] = await Promise.all([takeRuns(scope, m, dueRuns), takeAttempts(scope, m, dueAttempts)]);
  for (const { turn } of [...runs, ...attempts]) turns.serve(turn);
  count(
    scope,
    runs.map(({ taken }) => taken),
  );
  const next = [...runLanes, ...attemptLanes].flatMap(({ due_at, later }) => (due_at > m.now ? due_at : (later ?? [])));
  const isContended = runs.length < dueRuns.length || attempts.length < dueAttempts.length;
  if (limits.isBusy || isContended) next.push(m.now + BUSY_LANE_MS);
  return {
    runs: runs.map(({ taken }) => taken),
    attempts: attempts.map(({ taken }) => taken),
    // Runs that were counted and then taken no longer wait; runs of groups were not counted.
    waiting: Math.max(0, (counted?.waiting ?? 0) - runs.filter(({ row }) => !row.grouped).length),
    next_due_at: next.length === 0 ? null : Math.min(...next),
  };
}

/** How many runs may start in each limited lane that has due runs. */
async function roomOf(
  { db }: Scope,
  lanes: readonly RunLane[],
): Promise<{ readonly room: ReadonlyMap<string, number>; readonly isBusy: boolean }> {
  const limited = lanes
    .filter(({ due, max_concurrent }) => due.length > 0 && max_concurrent !== null)
    .map(({ lane }) => lane);
  if (limited.length === 0) return { room: new Map(), isBusy: false };
  // A statement sees what was committed when it started, so the count must start after the lock is held.
  const [limits, running] = await Promise.all([
    db.query<{ lane: string; max_concurrent: number | null }>(LOCK_LIMITS, [limited]),
    db.query<{ lane: string; running: number }>(COUNT_RUNNING, [limited]),
  ]);
  const counts = new Map(running.map(({ lane, running }) => [lane, running]));
  const room = limits.map(({ lane, max_concurrent }): [string, number] => [
    lane,
    (max_concurrent ?? Number.POSITIVE_INFINITY) - (counts.get(lane) ?? 0),
  ]);
  return { room: new Map(room), isBusy: limits.length < limited.length };
}

interface Chosen<Row> {
  readonly row: Row;
  /** The lane's name in `LaneTurns`. */
  readonly turn: string;
}

interface Choice<L> {
  readonly kind: 'run' | 'attempt';
  readonly limit: number;
  readonly room: (lane: L) => number;
}

function choose<L extends Lane<unknown>>(
  turns: LaneTurns,
  lanes: readonly L[],
  { kind, limit, room }: Choice<L>,
): readonly Chosen<L['due'][number]>[] {
  const due = lanes.map((lane) => {
    const turn = `${kind} ${lane.lane}`;
    return { name: turn, room: room(lane), rows: lane.due.map((row: L['due'][number]) => ({ row, turn })) };
  });
  return turns.choose(due, limit);
}

type Taken<Row, T> = Chosen<Row> & { readonly taken: T };

/** Takes those of the chosen runs that no other gateway has taken. */
async function takeRuns(
  { db, node }: Scope,
  { now, holder }: TakeWork,
  chosen: readonly Chosen<DueRun>[],
): Promise<readonly Taken<DueRun, TakenRun>[]> {
  if (chosen.length === 0) return [];
  const refs = chosen.map(({ row }) => row.ref);
  const rows = await db.query<{ ref: Ref; lane: string; failed: number }>(TAKE_RUNS, [refs, now, node, holder]);
  const byRef = new Map(rows.map((row) => [row.ref, row]));
  return chosen.flatMap((one) => {
    const row = byRef.get(one.row.ref);
    if (row === undefined) return [];
    const [profile, route] = JSON.parse(row.lane) as [string, string | null];
    return { ...one, taken: { ref: row.ref, profile, route, failed: row.failed } };
  });
}

async function takeAttempts(
  { db, node }: Scope,
  { now, holder }: TakeWork,
  chosen: readonly Chosen<DueAttempt>[],
): Promise<readonly Taken<DueAttempt, TakenAttempt>[]> {
  if (chosen.length === 0) return [];
  const named = JSON.stringify(chosen.map(({ row }) => row));
  const rows = await db.query<DueAttempt>(TAKE_ATTEMPTS, [named, now, node, holder]);
  const names = new Set(rows.map(nameOf));
  return chosen.flatMap((one) =>
    names.has(nameOf(one.row)) ? { ...one, taken: { ref: one.row.ref, index: one.row.n } } : [],
  );
}

const nameOf = ({ ref, n }: DueAttempt): string => `${ref} ${n}`;

function count({ node, send }: Scope, taken: readonly TakenRun[]): void {
  if (taken.length === 0) return;
  const counts = new CountChanges();
  for (const { profile, route } of taken) {
    counts.add(laneKey(profile, route), 'pending', -1);
    counts.add(laneKey(profile, route), 'running', 1);
  }
  send(ADD_COUNTS, [JSON.stringify(counts.rows(node))]);
}

/** A lane with due rows, the earliest first. */
export interface DueLane<Row> {
  readonly name: string;
  /** Most rows that may be taken from it. */
  readonly room: number;
  readonly rows: readonly Row[];
}

export class LaneTurns {
  private readonly served = new Map<string, number>();
  private sequence = 0;

  /**
   * Chooses up to `limit` rows, one from each lane in turn.
   * @param lanes lanes that were never served keep this order
   */
  choose<Row>(lanes: readonly DueLane<Row>[], limit: number): readonly Row[] {
    const turns = [...lanes].sort((a, b) => this.servedAt(a.name) - this.servedAt(b.name));
    const chosen: Row[] = [];
    for (let round = 0; chosen.length < limit; round++) {
      const open = turns.filter(({ rows, room }) => round < Math.min(rows.length, room));
      if (open.length === 0) break;
      for (const { rows } of open.slice(0, limit - chosen.length)) chosen.push(rows[round] as Row);
    }
    return chosen;
  }

  /** Records that a row of the lane was taken. */
  serve(name: string): void {
    this.served.set(name, ++this.sequence);
  }

  private servedAt(name: string): number {
    return this.served.get(name) ?? 0;
  }
}
