/** Taking, flushing and recovering work, in the store in memory. */

import type { GivenUp, MutationResults, Recover, TakeWork } from '../../../runtime/store/contract.ts';
import type { Pause } from '../../../runtime/store/records.ts';
import { interruptedStep } from '../../../runtime/store/states.ts';
import { UNANSWERED } from '../../../runtime/store/unit/apply.ts';
import { noteError } from './dispatches.ts';
import { pauseFor } from './guard.ts';
import type { MutationHandlers } from './handlers.ts';
import type { DeliveryRow, DispatchRow, Due, MemoryTables } from './tables.ts';
import { hasTurn, isReplaced, laneOf, move, nameOf, skipReplaced } from './tables.ts';

export function workHandlers(tables: MemoryTables): Pick<MutationHandlers, 'take_work' | 'flush_groups' | 'recover'> {
  return {
    take_work: (m) => takeWork(tables, m),
    flush_groups({ now }) {
      for (const [name, group] of tables.groups) {
        tables.groups.set(name, { ...group, due_at: now });
        const row = tables.dispatches.get(group.ref);
        if (row !== undefined) Object.assign(row, { due_at: now, set_at: now });
      }
      return null;
    },
    recover: (m) => recover(tables, m),
  };
}

/** One row after another, each from the allowed lane that was served least recently. */
function takeTurns<Row extends Due & { readonly ref: number; readonly index?: number }>(
  tables: MemoryTables,
  rows: readonly Row[],
  { most, laneOf, isOpen }: { most: number; laneOf: (row: Row) => string; isOpen: (lane: string) => boolean },
  take: (row: Row) => void,
): void {
  const left = [...rows].sort((a, b) => a.due_at - b.due_at || a.ref - b.ref || (a.index ?? 0) - (b.index ?? 0));
  for (let taken = 0; taken < most; taken++) {
    let next: Row | null = null;
    for (const row of left) {
      const served = (of: Row): number => tables.served.get(laneOf(of)) ?? 0;
      if (isOpen(laneOf(row)) && (next === null || served(row) < served(next))) next = row;
    }
    if (next === null) return;
    left.splice(left.indexOf(next), 1);
    tables.served.set(laneOf(next), ++tables.turn);
    take(next);
  }
}

function takeWork(tables: MemoryTables, m: TakeWork): MutationResults['take_work'] {
  const runs = takeRuns(tables, m);
  const attempts = takeAttempts(tables, m);
  const pending = pendingRows(tables);
  const later = [...pending.filter((row) => hasTurn(tables, row)), ...unheld(tables)]
    .map(({ due_at }) => due_at)
    .filter((due_at) => due_at > m.now);
  for (const { kind, expires_at } of tables.guard.values())
    if (kind === 'pause' && expires_at !== null && expires_at > m.now) later.push(expires_at);
  return {
    runs: runs.map(({ ref, profile, route, steps }) => ({
      ...{ ref, profile, route },
      failed: steps.filter(({ kind, outcome }) => kind === 'run' && outcome === 'failed').length,
    })),
    attempts: attempts.map(({ ref, index, holds }) =>
      holds === null ? { ref, index } : { ref, index, unsent: holds === 'rejected' ? 'refused' : 'expired' },
    ),
    waiting: Math.max(0, pending.filter((row) => !isPaused(tables, row, m.now)).length - tables.groups.size),
    next_due_at: later.length === 0 ? null : Math.min(...later),
  };
}

function takeRuns(tables: MemoryTables, { holder, now, runs: most, agents = [] }: TakeWork): readonly DispatchRow[] {
  const taken: DispatchRow[] = [];
  const running = (lane: string): number =>
    [...tables.dispatches.values()].filter((row) => row.state === 'running' && laneOf(row) === lane).length;
  const isOpen = (lane: string): boolean => running(lane) < (tables.caps.get(lane) ?? Number.POSITIVE_INFINITY);
  const due = pendingRows(tables).filter(
    (row) => row.due_at <= now && hasTurn(tables, row) && !isPaused(tables, row, now),
  );
  const rows = [...tables.dispatches.values()];
  const lane = ({ profile, route, dispatch }: DispatchRow): string =>
    JSON.stringify([profile, route, dispatch.agent ?? null]);
  const isFree = (name: string): boolean => {
    const [profile, route, agent] = JSON.parse(name) as [string, string | null, string | null];
    const limit = agents.find((one) => one.profile === profile && one.agent === agent)?.max_concurrent;
    const of = (row: DispatchRow): boolean => row.profile === profile && (row.dispatch.agent ?? null) === agent;
    const used = rows.filter((row) => row.state === 'running' && of(row)).length;
    return isOpen(laneOf({ profile, route })) && used < (limit ?? Number.POSITIVE_INFINITY);
  };
  takeTurns(
    tables,
    due,
    { most, laneOf: (row) => `run ${lane(row)}`, isOpen: (name) => isFree(name.slice(4)) },
    (row) => {
      if (isGrouped(tables, row)) tables.groups.delete(row.group ?? '');
      move(tables, row, 'running');
      Object.assign(row, { holder, started_at: now });
      taken.push(row);
    },
  );
  return taken;
}

function takeAttempts(tables: MemoryTables, m: TakeWork): readonly DeliveryRow[] {
  const taken: DeliveryRow[] = [];
  const held = (lane: string): number =>
    [...tables.deliveries].filter((row) => row.holder === m.holder && row.lane === lane).length;
  const isOpen = (lane: string): boolean => held(lane) < m.attempts_per_target;
  const due = unheld(tables).filter(({ due_at }) => due_at <= m.now);
  takeTurns(tables, due, { most: m.attempts, laneOf: ({ lane }) => lane, isOpen }, (row) => {
    row.holder = m.holder;
    taken.push(row);
  });
  return taken;
}

const isPaused = (tables: MemoryTables, row: DispatchRow, now: number): boolean => pauseFor(tables, row, now) !== null;

const pendingRows = ({ dispatches }: MemoryTables): readonly DispatchRow[] =>
  [...dispatches.values()].filter(({ state }) => state === 'pending');

const unheld = ({ deliveries }: MemoryTables): readonly DeliveryRow[] =>
  [...deliveries].filter(({ holder }) => holder === null);

export const isGrouped = ({ groups }: MemoryTables, { ref, group }: DispatchRow): boolean =>
  group !== null && groups.get(group)?.ref === ref;

function recover(tables: MemoryTables, { holder, now, under_way }: Recover): MutationResults['recover'] {
  const isGone = (row: Due): boolean => row.holder !== null && row.holder !== holder;
  const held = [...tables.dispatches.values()].filter((row) => row.holder !== null);
  const isLeft = (row: DispatchRow): boolean => isGone(row) || !under_way.runs.includes(row.ref);
  const runs = held.filter((row) => row.state === 'running' && isLeft(row));
  for (const row of runs) interrupt(tables, row, now, isGone(row));
  const given_up = held
    .filter((row) => row.state === 'delivering' && isGone(row))
    .map((row) => giveUp(tables, row, now));
  const isUnderWay = (row: DeliveryRow): boolean =>
    row.holder === holder && under_way.attempts.some(({ ref, index }) => row.ref === ref && row.index === index);
  const attempts = [...tables.deliveries].filter((row) => row.holder !== null && !isUnderWay(row));
  for (const row of attempts) row.holder = null;
  repairClock(tables, now);
  return { runs: runs.length, attempts: attempts.length, given_up };
}

function interrupt(tables: MemoryTables, row: DispatchRow, now: number, hasBegun: boolean): void {
  move(tables, row, 'pending');
  if (hasBegun) row.steps = [...row.steps, interruptedStep(row.started_at ?? now, now)];
  row.holder = null;
  if (isReplaced(tables, row)) skipReplaced(tables, row, now);
}

function giveUp(tables: MemoryTables, row: DispatchRow, now: number): GivenUp {
  const { id, profile, route, job } = row;
  const reason = UNANSWERED;
  move(tables, row, 'dead');
  Object.assign(row, { holder: null, finished_at: now, reason });
  noteError(tables, row, now, reason);
  return { id, profile, route, job, reason };
}

/** Work that was set by a clock that was ahead waits as long from now. */
function repairClock(tables: MemoryTables, now: number): void {
  for (const row of [...pendingRows(tables), ...unheld(tables)]) {
    if (row.set_at <= now) continue;
    row.due_at -= row.set_at - now;
    row.set_at = now;
  }
  for (const row of tables.guard.values()) {
    const { since, until } = row.kind === 'pause' ? (JSON.parse(row.body) as Pause) : { since: now, until: null };
    if (since <= now || until === null) continue;
    const end = now + until - since;
    tables.guard.set(nameOf('pause', row.key), {
      ...row,
      body: JSON.stringify({ since: now, until: end }),
      expires_at: end,
    });
  }
  for (const [name, group] of tables.groups) {
    const due_at = tables.dispatches.get(group.ref)?.due_at ?? group.due_at;
    tables.groups.set(name, { ...group, due_at, first_at: Math.min(group.first_at, now) });
  }
}
