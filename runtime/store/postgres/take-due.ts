/**
 * Takes what is due: looks which rows are, decides whose turn it is, and takes those that no other gateway has taken
 * meanwhile. Of lanes with a limit the row in `lane` is locked first, and their runs are counted behind that lock.
 */
import { laneKey } from '../identity.ts';
import type { MutationResults, Ref, TakenAttempt, TakenRun, TakeWork } from '../mutations.ts';
import {
  COUNT_RUNNING,
  DUE_ATTEMPTS,
  DUE_RUNS,
  LOCK_LIMITS,
  TAKE_ATTEMPTS,
  TAKE_RUNS,
  WAITING,
} from './due-queries.ts';
import type { DueLane, LaneTurns } from './lane-turns.ts';
import type { Scope } from './scope.ts';
import { ADD_COUNTS, CountChanges } from './tables.ts';

interface Lane {
  readonly lane: string;
  readonly due_at: number;
  readonly later: number | null;
}

type RunLane = Lane & { readonly max_concurrent: number | null };
type AttemptLane = Lane & { readonly held: number };

interface DueRow {
  readonly ref: Ref;
  readonly n?: number;
  readonly lane: string;
  readonly due_at: number;
}

/** Tries against gateways that take the same rows. */
const TRIES = 3;
/** Before a lane is tried again that another gateway had locked, in ms. */
const BUSY_LANE_MS = 20;

export async function takeWork(scope: Scope, turns: LaneTurns, m: TakeWork): Promise<MutationResults['take_work']> {
  const { db } = scope;
  const [runLanes, attemptLanes] = await Promise.all([
    db.query<RunLane>(DUE_RUNS.lanes, [m.now, m.holder]),
    db.query<AttemptLane>(DUE_ATTEMPTS.lanes, [m.now, m.holder]),
  ]);
  const { runs, isBusy } = m.runs === 0 ? NO_RUNS : await takeRuns(scope, turns, m, runLanes);
  const attempts = m.attempts === 0 ? [] : await takeAttempts(scope, turns, m, attemptLanes);
  // In this order: what was taken does not wait any more.
  const [, [counted]] = await Promise.all([count(scope, runs), db.query<{ waiting: number }>(WAITING)]);
  const next = [...runLanes, ...attemptLanes].flatMap(({ due_at, later }) => (due_at > m.now ? due_at : (later ?? [])));
  if (isBusy) next.push(m.now + BUSY_LANE_MS);
  return {
    ...{ runs, attempts, waiting: Math.max(0, counted?.waiting ?? 0) },
    next_due_at: next.length === 0 ? null : Math.min(...next),
  };
}

interface TakenRuns {
  readonly runs: readonly TakenRun[];
  /** A lane was left out because another gateway was taking from it. */
  readonly isBusy: boolean;
}

const NO_RUNS: TakenRuns = { runs: [], isBusy: false };

async function takeRuns(scope: Scope, turns: LaneTurns, m: TakeWork, lanes: readonly RunLane[]): Promise<TakenRuns> {
  const due = lanes.filter(({ due_at }) => due_at <= m.now);
  const { room, isBusy } = await roomOf(scope, m, due);
  const runs = await takeInTurns(
    { scope, turns, m, kind: 'run', limit: m.runs, room, due: DUE_RUNS.due },
    async (chosen) => {
      const refs = chosen.map(({ ref }) => ref);
      const taken = await scope.db.query<{ ref: Ref; lane: string; failed: number }>(TAKE_RUNS, [
        ...[refs, m.now, scope.node, m.holder],
      ]);
      return taken.map(({ ref, lane, failed }) => {
        const [profile, route] = JSON.parse(lane) as [string, string | null];
        return { row: { ref }, result: { ref, profile, route, failed } };
      });
    },
  );
  return { runs, isBusy };
}

async function takeAttempts(
  scope: Scope,
  turns: LaneTurns,
  m: TakeWork,
  lanes: readonly AttemptLane[],
): Promise<TakenAttempt[]> {
  const due = lanes.filter(({ due_at }) => due_at <= m.now);
  const room = new Map(due.map(({ lane, held }) => [lane, m.attempts_per_target - held]));
  const parts = { scope, turns, m, kind: 'attempt', limit: m.attempts, room, due: DUE_ATTEMPTS.due } as const;
  return takeInTurns(parts, async (chosen) => {
    const named = JSON.stringify(chosen.map(({ ref, n }) => ({ ref, n })));
    const taken = await scope.db.query<{ ref: Ref; n: number }>(TAKE_ATTEMPTS, [named, m.now, scope.node, m.holder]);
    return taken.map(({ ref, n }) => ({ row: { ref, n }, result: { ref, index: n } }));
  });
}

/** How many runs may begin in each lane. */
async function roomOf(
  { db }: Scope,
  { runs }: TakeWork,
  lanes: readonly RunLane[],
): Promise<{ readonly room: Map<string, number>; readonly isBusy: boolean }> {
  const room = new Map(lanes.map(({ lane }) => [lane, runs]));
  const limited = lanes.filter(({ max_concurrent }) => max_concurrent !== null).map(({ lane }) => lane);
  if (limited.length === 0) return { room, isBusy: false };
  // A statement sees what was committed when it began: the count has to begin behind the lock.
  const [limits, running] = await Promise.all([
    db.query<{ lane: string; max_concurrent: number | null }>(LOCK_LIMITS, [limited]),
    db.query<{ lane: string; running: number }>(COUNT_RUNNING, [limited]),
  ]);
  const counts = new Map(running.map(({ lane, running }) => [lane, running]));
  for (const lane of limited) room.set(lane, 0);
  for (const { lane, max_concurrent } of limits) {
    room.set(lane, max_concurrent === null ? runs : max_concurrent - (counts.get(lane) ?? 0));
  }
  return { room, isBusy: limits.length < limited.length };
}

interface Taking {
  readonly scope: Scope;
  readonly turns: LaneTurns;
  readonly m: TakeWork;
  readonly kind: 'run' | 'attempt';
  readonly limit: number;
  readonly room: Map<string, number>;
  readonly due: string;
}

interface Taken<T> {
  readonly row: { readonly ref: Ref; readonly n?: number };
  readonly result: T;
}

/** @param take those of the chosen rows that were still there */
async function takeInTurns<T>(
  { scope, turns, m, kind, limit, room, due }: Taking,
  take: (chosen: readonly DueRow[]) => Promise<readonly Taken<T>[]>,
): Promise<T[]> {
  const results: T[] = [];
  for (let attempt = 0; attempt < TRIES && results.length < limit; attempt++) {
    const left = limit - results.length;
    const asked = [...room].flatMap(([lane, most]) => (most > 0 ? [{ lane, most: Math.min(most, left) }] : []));
    if (asked.length === 0) break;
    const rows = await scope.db.query<DueRow>(due, [JSON.stringify(asked), m.now]);
    const chosen = turns.choose(byLane(kind, rows), left);
    if (chosen.length === 0) break;
    const taken = new Map((await take(chosen)).map((one) => [nameOf(one.row), one.result]));
    for (const row of chosen) {
      const result = taken.get(nameOf(row));
      if (result === undefined) continue;
      results.push(result);
      turns.serve(`${kind} ${row.lane}`);
      room.set(row.lane, (room.get(row.lane) ?? 0) - 1);
    }
    // All that were wanted: what is left was not chosen for want of room.
    if (taken.size === chosen.length) break;
  }
  return results;
}

const nameOf = ({ ref, n }: { readonly ref: Ref; readonly n?: number }): string => `${ref} ${n ?? ''}`;

function byLane(kind: string, rows: readonly DueRow[]): readonly DueLane<DueRow>[] {
  const lanes = new Map<string, DueRow[]>();
  for (const row of [...rows].sort((a, b) => a.due_at - b.due_at || a.ref - b.ref || (a.n ?? 0) - (b.n ?? 0))) {
    lanes.set(row.lane, [...(lanes.get(row.lane) ?? []), row]);
  }
  return [...lanes].map(([lane, rows]) => ({ name: `${kind} ${lane}`, room: rows.length, rows }));
}

async function count({ db, node }: Scope, taken: readonly TakenRun[]): Promise<void> {
  if (taken.length === 0) return;
  const counts = new CountChanges();
  for (const { profile, route } of taken) {
    counts.add(laneKey(profile, route), 'pending', -1);
    counts.add(laneKey(profile, route), 'running', 1);
  }
  await db.change(ADD_COUNTS, [JSON.stringify(counts.rows(node))]);
}
