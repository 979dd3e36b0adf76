/**
 * Takes due work: reads the due rows, chooses among the lanes in turn, and takes the chosen rows that no other gateway
 * has taken. For lanes with a limit, the row in `lane` is locked first, and their runs are counted under that lock.
 */

import type {
  AgentLimit,
  MutationResults,
  TakenAttempt,
  TakenRun,
  TakeWork,
} from '../../../../runtime/store/contract.ts';
import type { Ref } from '../../../../runtime/store/records.ts';
import { laneKey, laneParts, routeLane } from '../../../../runtime/store/records.ts';
import { agentOf } from '../../../../runtime/store/unit/agent-room.ts';
import type { BlockColumns } from '../../../../runtime/store/unit/blocked.ts';
import { takenAttempt } from '../../../../runtime/store/unit/blocked.ts';
import type { LaneCount } from '../../../../runtime/store/waits.ts';
import { COUNT_RUNNING } from '../../../../runtime/store/waits.ts';
import { ADD_COUNTS, CountChanges } from './store-unit.ts';
import type { Scope } from './transact.ts';

interface Lane<Row> {
  readonly lane: string;
  readonly due_at: number;
  readonly later: number | null;
  /** Rows in order of due time. */
  readonly due: readonly Row[];
}

type DueRun = { readonly ref: Ref; readonly grouped: boolean };
type DueAttempt = { readonly ref: Ref; readonly n: number };
type RunLane = Lane<DueRun> & { readonly max_concurrent: number | null };
type AttemptLane = Lane<DueAttempt> & { readonly held: number };

interface Counted {
  readonly waiting: number;
  /** The lanes of paused routes. */
  readonly paused: readonly string[];
  readonly goes_on_at: number | null;
}

/** Wait before the next try when another gateway was taking from the same lane, in ms. */
const BUSY_LANE_MS = 20;

/** Runs `take_work` (runtime/store/contract.ts). */
export async function takeWork(scope: Scope, turns: LaneTurns, m: TakeWork): Promise<MutationResults['take_work']> {
  const { db } = scope;
  const [allLanes, attemptLanes, [counted]] = await Promise.all([
    db.query<RunLane>(DUE_RUNS, [m.now, m.holder, m.runs]),
    db.query<AttemptLane>(DUE_ATTEMPTS, [m.now, m.holder, m.attempts]),
    db.query<Counted>(WAITING, [m.now]),
  ]);
  const { waiting = 0, paused = [], goes_on_at = null } = counted ?? {};
  const runLanes = paused.length === 0 ? allLanes : allLanes.filter(({ lane }) => !paused.includes(routeLane(lane)));
  const limits = await roomOf(scope, runLanes, m.agents ?? []);
  const dueRuns = choose(turns, runLanes, { kind: 'run', limit: m.runs, ...limits });
  const dueAttempts = choose(turns, attemptLanes, {
    kind: 'attempt',
    limit: m.attempts,
    room: ({ held }) => m.attempts_per_target - held,
    groupsOf: () => [],
  });
  const [runs, attempts] = await Promise.all([takeRuns(scope, m, dueRuns), takeAttempts(scope, m, dueAttempts)]);
  for (const { turn } of [...runs, ...attempts]) turns.serve(turn);
  count(
    scope,
    runs.map(({ taken }) => taken),
  );
  const next = [...runLanes, ...attemptLanes].flatMap(({ due_at, later }) => (due_at > m.now ? due_at : (later ?? [])));
  const isContended = runs.length < dueRuns.length || attempts.length < dueAttempts.length;
  if (goes_on_at !== null) next.push(goes_on_at);
  if (limits.isBusy || isContended) next.push(m.now + BUSY_LANE_MS);
  return {
    runs: runs.map(({ taken }) => taken),
    attempts: attempts.map(({ taken }) => taken),
    // Runs that were counted and then taken no longer wait; runs of groups were not counted.
    waiting: Math.max(0, waiting - runs.filter(({ row }) => !row.grouped).length),
    next_due_at: next.length === 0 ? null : Math.min(...next),
  };
}

type RunLimits = Pick<Choice<RunLane>, 'room' | 'groupsOf'> & {
  /** Another gateway is taking from the same route, or for the same agent. */
  readonly isBusy: boolean;
};

/** How many runs may begin in each lane, and for each route and agent with a limit. */
async function roomOf({ db }: Scope, lanes: readonly RunLane[], agents: readonly AgentLimit[]): Promise<RunLimits> {
  const due = lanes.filter((lane) => lane.due.length > 0);
  const limited = due.filter(({ max_concurrent }) => max_concurrent !== null).map(({ lane }) => routeLane(lane));
  const limitOf = new Map(agents.map((limit) => [laneKey(limit.profile, limit.agent), limit.max_concurrent]));
  const named = agents.length === 0 ? [] : [...new Set(due.map(({ lane }) => agentOf(lane)))];
  const wanted = named.filter((name) => limitOf.has(name)).sort();
  const none = { room: () => Number.POSITIVE_INFINITY, groupsOf: () => [], isBusy: false };
  if (limited.length + wanted.length === 0) return none;
  // A statement sees the rows committed when it started, so the count must start after the locks are held.
  const [routes, locked, running] = await Promise.all([
    limited.length === 0
      ? []
      : db.query<{ lane: string; max_concurrent: number | null }>(LOCK_LIMITS, [[...new Set(limited)]]),
    wanted.length === 0 ? [] : db.query<{ name: string }>(LOCK_AGENTS, [wanted]),
    db.query<LaneCount>(COUNT_RUNNING),
  ]);
  const left = new Map<string, number>();
  for (const name of [...limited.map(routeGroup), ...wanted.map(agentGroup)]) left.set(name, 0);
  for (const { lane, max_concurrent } of routes) {
    left.set(routeGroup(lane), max_concurrent ?? Number.POSITIVE_INFINITY);
  }
  for (const { name } of locked) left.set(agentGroup(name), limitOf.get(name) ?? 0);
  for (const { lane, count } of running) {
    for (const name of groupNames(lane)) left.set(name, (left.get(name) ?? Number.POSITIVE_INFINITY) - count);
  }
  return {
    room: () => Number.POSITIVE_INFINITY,
    groupsOf: ({ lane }) =>
      groupNames(lane).map((name) => ({ name, room: left.get(name) ?? Number.POSITIVE_INFINITY })),
    isBusy: routes.length < new Set(limited).size || locked.length < wanted.length,
  };
}

const routeGroup = (lane: string): string => `route ${lane}`;
const agentGroup = (name: string): string => `agent ${name}`;
const groupNames = (lane: string): readonly string[] => [routeGroup(routeLane(lane)), agentGroup(agentOf(lane))];

interface Chosen<Row> {
  readonly row: Row;
  /** The lane's name in `LaneTurns`. */
  readonly turn: string;
}

interface Choice<L> {
  readonly kind: 'run' | 'attempt';
  readonly limit: number;
  readonly room: (lane: L) => number;
  /** The limits that the lane shares with other lanes. */
  readonly groupsOf: (lane: L) => readonly SharedRoom[];
}

function choose<L extends Lane<unknown>>(
  turns: LaneTurns,
  lanes: readonly L[],
  { kind, limit, room, groupsOf }: Choice<L>,
): readonly Chosen<L['due'][number]>[] {
  const due = lanes.map((lane) => {
    const turn = `${kind} ${lane.lane}`;
    return {
      name: turn,
      room: room(lane),
      groups: groupsOf(lane),
      rows: lane.due.map((row: L['due'][number]) => ({ row, turn })),
    };
  });
  return turns.choose(due, limit);
}

type Taken<Row, T> = Chosen<Row> & { readonly taken: T };

/** Takes the chosen runs that no other gateway has taken. */
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
    const { profile, name: route } = laneParts(row.lane);
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
  const rows = await db.query<DueAttempt & BlockColumns>(TAKE_ATTEMPTS, [named, now, node, holder]);
  const taken = new Map(rows.map((row) => [nameOf(row), takenAttempt(row.ref, row.n, row)]));
  return chosen.flatMap((one) => {
    const attempt = taken.get(nameOf(one.row));
    return attempt === undefined ? [] : { ...one, taken: attempt };
  });
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

/** A limit that several lanes share. */
interface SharedRoom {
  readonly name: string;
  readonly room: number;
}

/** A lane with due rows, the earliest first. */
interface DueLane<Row> {
  readonly name: string;
  /** Maximum number of rows that may be taken from it. */
  readonly room: number;
  readonly groups?: readonly SharedRoom[];
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
    const used = new Map<string, number>();
    const isFull = ({ name, room }: SharedRoom): boolean => (used.get(name) ?? 0) >= room;
    for (let round = 0; chosen.length < limit; round++) {
      const open = turns.filter(({ rows, room }) => round < Math.min(rows.length, room));
      if (open.length === 0) break;
      for (const { rows, groups = [] } of open) {
        if (chosen.length === limit) break;
        if (groups.some(isFull)) continue;
        for (const { name } of groups) used.set(name, (used.get(name) ?? 0) + 1);
        chosen.push(rows[round] as Row);
      }
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

/*
 * The queries of each `take_work`, the same for runs and delivery attempts. They use partial indexes over waiting rows, so
 * that their cost does not grow with the ended ones.
 */

/**
 * Returns each lane with waiting rows, with its earliest due time, the earliest after $1, and up to $3 of its rows that are
 * due at $1, ordered by their first row. It walks from lane to lane through the index. $2: the holder.
 */
function dueLanes(table: string, waiting: string, [key, columns]: readonly [string, string], more: string): string {
  const first = `SELECT lane, due_at, ${key} FROM ${table} WHERE ${waiting}`;
  const order = `ORDER BY lane, due_at, ${key} LIMIT 1`;
  const ofLane = `FROM ${table} WHERE ${waiting} AND lane = l.lane`;
  return (
    `WITH RECURSIVE lanes AS ((${first} ${order}) UNION ALL SELECT following.* FROM lanes l ` +
    `CROSS JOIN LATERAL (${first} AND lane > l.lane ${order}) following) SELECT l.lane, l.due_at, ` +
    `(SELECT min(due_at) ${ofLane} AND due_at > $1) AS later, (SELECT coalesce(json_agg(d), '[]') FROM ` +
    `(SELECT ${key}${columns} ${ofLane} AND due_at <= $1 ORDER BY due_at, ${key} LIMIT $3) d) AS due, ${more} ` +
    `FROM lanes l ORDER BY due_at, ${key}`
  );
}

/** The same as `routeLane`. */
export const routeLaneOf = (lane: string): string => `split_part(${lane}, chr(10), 1)`;

const DUE_RUNS = dueLanes(
  'work',
  "state = 'pending' AND blocked_by IS NULL",
  ['ref', ', group_key IS NOT NULL AS grouped'],
  `(SELECT max_concurrent FROM lane c WHERE c.lane = ${routeLaneOf('l.lane')}) AS max_concurrent, $2::text AS holder`,
);

const DUE_ATTEMPTS = dueLanes(
  'delivery',
  'holder IS NULL',
  ['ref, n', ''],
  '(SELECT count(*) FROM delivery WHERE holder = $2 AND lane = l.lane) AS held',
);

/** Takes the chosen runs that still wait. Taking a run that waits in a group closes the group. */
const TAKE_RUNS =
  "WITH due AS MATERIALIZED (SELECT ref FROM work WHERE ref = ANY($1::bigint[]) AND state = 'pending' AND blocked_by IS NULL AND due_at <= $2 " +
  "ORDER BY ref FOR UPDATE SKIP LOCKED) UPDATE work w SET state = 'running', node = $3, holder = $4, started_at = $2, " +
  'group_key = NULL FROM due WHERE w.ref = due.ref RETURNING w.ref, w.lane, w.failed';

const TAKE_ATTEMPTS =
  'WITH due AS MATERIALIZED (SELECT d.ref, d.n FROM delivery d JOIN json_to_recordset($1::json) AS x(ref bigint, n integer) ' +
  'ON d.ref = x.ref AND d.n = x.n WHERE d.holder IS NULL AND d.due_at <= $2 ORDER BY d.ref, d.n FOR UPDATE OF d SKIP LOCKED) ' +
  'UPDATE delivery d SET node = $3, holder = $4 FROM due WHERE d.ref = due.ref AND d.n = due.n RETURNING d.ref, d.n, d.blocked_by, d.due_at, d.set_at';

/** Locks the rows that guard the limits of these lanes, before their runs are counted; skips lanes that another gateway has locked. */
const LOCK_LIMITS = 'SELECT lane, max_concurrent FROM lane WHERE lane = ANY($1) ORDER BY lane FOR UPDATE SKIP LOCKED';
/** The same for agents: the names of those that no other gateway has locked. */
const LOCK_AGENTS =
  "SELECT name FROM unnest($1::text[]) name WHERE pg_try_advisory_xact_lock(hashtextextended('hookwright agent ' || name, 0))";

/** The lanes of the routes that are paused at $1. */
export const PAUSED =
  "SELECT key::json #>> '{}' AS lane FROM guard_state WHERE kind = 'pause' AND coalesce(expires_at > $1, true)";

/**
 * The paused lanes, when the next of these pauses expires, and the number of dispatches that wait for a run, without
 * those in groups and of paused routes.
 */
const WAITING =
  `WITH paused AS MATERIALIZED (${PAUSED}) SELECT ` +
  '(SELECT coalesce(sum(pending), 0)::bigint FROM tally WHERE lane NOT IN (SELECT lane FROM paused)) - ' +
  "(SELECT count(*) FROM work WHERE group_key IS NOT NULL AND state = 'pending') AS waiting, " +
  "(SELECT coalesce(json_agg(lane), '[]') FROM paused) AS paused, " +
  "(SELECT min(expires_at) FROM guard_state WHERE kind = 'pause' AND expires_at > $1) AS goes_on_at";
