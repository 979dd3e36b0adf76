/** The queries of the store in memory. */

import { fillEvents, resetRow, saidIn, turnsOf } from '../../../runtime/store/listed-rows.ts';
import type {
  DeadWork,
  DispatchSummary,
  ListFilter,
  OpenWork,
  Query,
  QueryHandlers,
  QueryResults,
  StoredDispatch,
  StoreOverview,
  Tally,
} from '../../../runtime/store/queries.ts';
import { NOT_PAUSED, runLane } from '../../../runtime/store/records.ts';
import type { DispatchState } from '../../../runtime/store/states.ts';
import { isFinal } from '../../../runtime/store/states.ts';
import { auditTally } from '../../../runtime/store/tally.ts';
import { runDuration } from '../../../runtime/store/timeline.ts';
import type { UsageSum } from '../../../runtime/store/usage.ts';
import { addUsage } from '../../../runtime/store/usage.ts';
import type { LaneCount } from '../../../runtime/store/waits.ts';
import { blocked } from './approvals.ts';
import { figureQuery } from './figures.ts';
import { pauseFor } from './guard.ts';
import { sizeOf } from './retention.ts';
import type { DispatchRow, MemoryTables } from './tables.ts';
import { hasTurn, isClaimed, nameOf } from './tables.ts';
import { isGrouped } from './work.ts';

export function queryHandlers(tables: MemoryTables): QueryHandlers {
  const { dispatches, jobs, jobStates, ticks } = tables;
  return {
    is_claimed: ({ key, now }) => isClaimed(tables, key, now),
    load: ({ ref }) => loaded(tables, dispatches.get(ref)),
    find: ({ id }) => find(tables, id),
    ended: ({ ids }) =>
      [...dispatches.values()]
        .filter((row) => ids.includes(row.dispatch.id) && isFinal(row.state))
        .map((row) => row.dispatch.id),
    list: ({ filter }) => list(tables, filter),
    sessions: (query) => sessions(tables, query),
    waits: ({ now }) => waits(tables, now),
    said: (query) => said(tables, query),
    overview: ({ now }) => overview(tables, now),
    traffic: ({ routes, since }) => routes.map((route) => traffic(tables, route, since)),
    open_work: () => openWork(tables),
    dead_work: () => deadWork(tables),
    jobs: () => ({
      version: tables.jobsVersion,
      records: [...jobs.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      states: Object.fromEntries(jobStates),
    }),
    jobs_version: () => tables.jobsVersion,
    job_ticks: ({ job, limit }) =>
      [...(ticks.get(job)?.values() ?? [])].sort((a, b) => b.due_at - a.due_at).slice(0, limit),
    oldest_due: ({ now }) => {
      const runs = [...dispatches.values()].filter(
        (row) => row.state === 'pending' && pauseFor(tables, row, now) === null,
      );
      const due = [...runs, ...[...tables.deliveries].filter(({ holder }) => holder === null)].map(
        ({ due_at }) => due_at,
      );
      return due.length === 0 ? null : Math.min(...due);
    },
    guard_rows: ({ of, paused = false }) =>
      [...tables.guard.values()]
        .filter(({ kind, body }) => kind === of && !(paused && body.endsWith(NOT_PAUSED)))
        .map(({ kind, key, body }) => ({ kind, key, body }))
        .sort((a, b) => (a.key < b.key ? -1 : 1)),
    usage: ({ since, slot_ms }) => sumUsage(tables, since, slot_ms),
    blocked: () => blocked(tables),
    figures: figureQuery(tables),
    nodes: () => [],
    audit: () => audit(tables),
  };
}

const isOpen = ({ state }: DispatchRow): boolean => state === 'pending' || state === 'running';

function inSession(tables: MemoryTables, row: DispatchRow) {
  const { dispatches, turns } = tables;
  const { dispatch, session, place, state, accepted_at, due_at, set_at } = row;
  const others = [...dispatches.values()].filter((other) => other.session === session && isOpen(other));
  const turn = session === null || !isOpen(row) ? null : 1 + others.filter((other) => other.place < place).length;
  const of = { agent: row.agent, session: session === null ? null : dispatch.session, turn };
  const waits = (
    waits_for: StoredDispatch['waits_for'],
    waits_since: number | null,
    ready_at: number | null = null,
  ) => ({
    ...{ ...of, waits_for, waits_since, ready_at },
  });
  const asked = blocked(tables).filter((one) => one.ref === row.ref);
  if (asked.length > 0)
    return { ...waits('approval', Math.min(...asked.map((one) => one.since))), state: 'waiting' as const };
  if (state !== 'pending') return waits(null, null);
  if (session !== null && turns.get(session) !== row.ref) return waits('session', accepted_at);
  return waits(null, null, Math.max(due_at, set_at));
}

function loaded(tables: MemoryTables, row: DispatchRow | undefined): StoredDispatch | null {
  if (row === undefined) return null;
  const { due_at, set_at, holder, group, session, place, burst, ...stored } = row;
  const duration_ms = runDuration(stored);
  const job_name = jobNameIn(tables, row.job);
  return { ...stored, job_name, duration_ms, dispatch: whole(tables, row), ...inSession(tables, row) };
}

const jobNameIn = ({ jobs }: MemoryTables, job: string | null): string | null => jobs.get(job ?? '')?.name ?? null;

/** The dispatch with the list of its burst. */
function whole({ dispatches }: MemoryTables, { burst, ref, dispatch }: DispatchRow): StoredDispatch['dispatch'] {
  const found = [...dispatches.values()].filter((other) => burst !== null && other.burst === burst && other.ref < ref);
  return fillEvents(
    dispatch,
    found.reverse().map((other) => JSON.stringify(other.dispatch)),
  );
}

function summary(tables: MemoryTables, row: DispatchRow): DispatchSummary {
  const { dispatch, max_concurrent, answer, program, steps, ...rest } = loaded(tables, row) as StoredDispatch;
  return rest;
}

function sessions(tables: MemoryTables, { profile }: Extract<Query, { kind: 'sessions' }>): QueryResults['sessions'] {
  const open = [...tables.dispatches.values()].filter((row) => row.session !== null && isOpen(row));
  const busy = open.filter(
    (row) => (profile ?? row.profile) === row.profile && tables.turns.get(row.session ?? '') === row.ref,
  );
  return busy.map((row) => ({
    session: row.dispatch.session,
    run: summary(tables, row),
    waiting: open.filter(({ session }) => session === row.session).length - 1,
  }));
}

function waits(tables: MemoryTables, now: number): QueryResults['waits'] {
  const open = [...tables.dispatches.values()].filter(isOpen);
  const inSessions = open.filter(({ session }) => session !== null);
  const count = (rows: readonly DispatchRow[]): readonly LaneCount[] => {
    const lanes = new Map<string, number>();
    for (const { profile, route, agent } of rows) {
      const lane = runLane(profile, route, agent);
      lanes.set(lane, (lanes.get(lane) ?? 0) + 1);
    }
    return [...lanes].map(([lane, count]) => ({ lane, count }));
  };
  return {
    session: inSessions.filter((row) => !hasTurn(tables, row)).length,
    sessions: new Set(inSessions.map(({ session }) => session)).size,
    due: count(open.filter((row) => row.state === 'pending' && hasTurn(tables, row) && row.due_at <= now)),
    running: count(open.filter(({ state }) => state === 'running')),
  };
}

function said(tables: MemoryTables, query: Extract<Query, { kind: 'said' }>): QueryResults['said'] {
  const name = nameOf(query.of.profile, query.of.session);
  const rows = [...tables.dispatches.values()].flatMap(({ ref, session, dispatch, answer, answered_at }) =>
    session !== name || answer === null || answer === '' || answered_at === null
      ? []
      : [{ ref, body: JSON.stringify(dispatch), answer: JSON.stringify(answer), answered_at }],
  );
  const reset = resetRow(query.of);
  const latest = rows.reverse().slice(0, query.turns);
  const told = turnsOf(latest, tables.guard.get(nameOf(reset.kind, reset.key))?.body);
  return saidIn(
    told.map((row) => ({ ...row, dispatch: whole(tables, tables.dispatches.get(row.ref) as DispatchRow) })),
    query,
  );
}

function find(tables: MemoryTables, id: string): QueryResults['find'] {
  const { dispatches } = tables;
  const exact = [...dispatches.values()].find((row) => row.id === id);
  const found = exact === undefined ? [...dispatches.values()].filter((row) => row.id.startsWith(id)) : [exact];
  const dispatch = loaded(tables, found[0]);
  if (dispatch === null) return { kind: 'unknown' };
  return found.length === 1 ? { kind: 'found', dispatch } : { kind: 'ambiguous' };
}

function list(tables: MemoryTables, filter: ListFilter): readonly DispatchSummary[] {
  const asked = new Set(blocked(tables).map(({ ref }) => ref));
  const matches = ({ id, state, route, job, accepted_at, ref, dispatch, targets }: DispatchRow): boolean =>
    (filter.ids === undefined || filter.ids.includes(id)) &&
    (filter.state === undefined || (asked.has(ref) ? 'waiting' : state) === filter.state) &&
    (filter.route === undefined || route === filter.route) &&
    (filter.job === undefined || job === filter.job) &&
    accepted_at >= (filter.since ?? 0) &&
    accepted_at < (filter.until ?? Number.POSITIVE_INFINITY) &&
    ref < (filter.before ?? Number.POSITIVE_INFINITY) &&
    (filter.delivery_id === undefined || dispatch.delivery_id === filter.delivery_id) &&
    [dispatch.event, dispatch.delivery_id, dispatch.session ?? '', dispatch.agent ?? '', targets].some((text) =>
      text.toLowerCase().includes((filter.grep ?? '').toLowerCase()),
    ) &&
    !(filter.hide_own && route === null && job === null) &&
    !(filter.oldest_open && isFinal(state));
  const found = [...tables.dispatches.values()].filter(matches);
  return (filter.oldest_open ? found : found.reverse()).slice(0, filter.limit).map((row) => summary(tables, row));
}

function traffic({ dispatches }: MemoryTables, name: string, since: number): QueryResults['traffic'][number] {
  const times = [...dispatches.values()].filter(({ route }) => route === name).map(({ accepted_at }) => accepted_at);
  return { events: times.filter((at) => at >= since).length, last_at: times.at(-1) ?? null };
}

function overview(tables: MemoryTables, now: number): StoreOverview {
  const rows = [...tables.dispatches.values()];
  const waiting = [...tables.deliveries].filter(({ holder }) => holder === null);
  const due = waiting.filter(({ due_at }) => due_at <= now);
  const oldest = rows.filter(({ state }) => !isFinal(state)).map(({ accepted_at }) => accepted_at);
  return {
    tallies: tallies(tables).map(({ delivering, ...tally }) => {
      const isOf = (row: DispatchRow): boolean => row.profile === tally.profile && row.route === tally.route;
      const waiting = rows.filter((row) => isOf(row) && summary(tables, row).state === 'waiting').length;
      return { ...tally, delivering: delivering - waiting, waiting };
    }),
    backlog: {
      runs: rows.filter((row) => row.state === 'pending' && !isGrouped(tables, row)).length,
      deliveries: due.length,
      deliveries_delayed: waiting.length - due.length,
      groups: tables.groups.size,
    },
    oldest_open_at: oldest.length === 0 ? null : Math.min(...oldest),
    last_error: tables.lastError,
    bytes: sizeOf(tables),
    damage: null,
  };
}

function openWork({ dispatches, deliveries }: MemoryTables): readonly OpenWork[] {
  const counts = new Map<string, number>();
  const isOpen = ({ ref, state }: DispatchRow, at: number): boolean =>
    !isFinal(state) && (state !== 'delivering' || [...deliveries].some((row) => row.ref === ref && row.index === at));
  for (const row of dispatches.values()) {
    const targets = row.dispatch.deliveries.filter((_, at) => isOpen(row, at)).map(({ target }) => target);
    const needs = row.dispatch.deliveries.length === 0 && isOpen(row, 0) ? [null] : targets;
    for (const target of needs) {
      const name = JSON.stringify([row.profile, row.route, row.job, target]);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts].map(([name, count]) => {
    const [profile, route, job, target] = JSON.parse(name) as [string, string | null, string | null, string | null];
    return { profile, route, job, target, count };
  });
}

function deadWork(tables: MemoryTables): readonly DeadWork[] {
  const found = new Map<string, DeadWork>();
  for (const { profile, route, job, state, finished_at } of tables.dispatches.values()) {
    if (state !== 'dead') continue;
    const name = nameOf(profile, route, job);
    const { count = 0, since = finished_at ?? 0 } = found.get(name) ?? {};
    const job_name = jobNameIn(tables, job);
    found.set(name, { profile, route, job, job_name, count: count + 1, since: Math.min(since, finished_at ?? 0) });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, work]) => work);
}

function tallies(tables: MemoryTables): readonly Tally[] {
  return [...tables.tallies].map(([name, counts]) => {
    const [profile, route] = JSON.parse(name) as [string, string | null];
    return { profile, route, ...counts };
  });
}

function sumUsage({ dispatches, usage }: MemoryTables, since: number, slot_ms: number): QueryResults['usage'] {
  const sums = new Map<string, UsageSum>();
  for (const { ref, at, agent, ...used } of usage) {
    const row = dispatches.get(ref);
    if (row === undefined || at < since) continue;
    const { profile, route, job } = row;
    const of = { profile, route, job, agent, slot: Math.floor(at / slot_ms) * slot_ms };
    const name = nameOf(profile, route, job, agent, String(of.slot));
    const before = sums.get(name);
    sums.set(name, { ...of, runs: (before?.runs ?? 0) + 1, ...(before === undefined ? used : addUsage(before, used)) });
  }
  return [...sums.values()];
}

function audit(tables: MemoryTables): readonly string[] {
  return tallies(tables).flatMap((tally) => {
    const stored: Partial<Record<DispatchState, number>> = {};
    for (const { profile, route, state } of tables.dispatches.values()) {
      if (profile === tally.profile && route === tally.route) stored[state] = (stored[state] ?? 0) + 1;
    }
    return auditTally(tally, stored);
  });
}
