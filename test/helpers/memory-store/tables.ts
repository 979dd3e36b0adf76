/** The data of the store in memory, and helpers of all its changes. */

import type { Figures } from '../../../runtime/store/figures.ts';
import type { LastError, StoredDispatch } from '../../../runtime/store/queries.ts';
import type {
  ClaimKey,
  GuardRow,
  Holder,
  JobRecord,
  JobState,
  JobTick,
  Ref,
  StoredClaim,
} from '../../../runtime/store/records.ts';
import { claimKey } from '../../../runtime/store/records.ts';
import type { DispatchState, Group } from '../../../runtime/store/states.ts';
import { interruptedStep } from '../../../runtime/store/states.ts';
import type { TallyColumn } from '../../../runtime/store/tally.ts';
import { noCounts } from '../../../runtime/store/tally.ts';
import type { RunUsage } from '../../../runtime/store/usage.ts';
import type { Wait } from '../../../runtime/store/waits.ts';
import type { Dispatch } from '../../../schemas/generated/types.ts';

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Work that one process does when it is due. */
export interface Due {
  due_at: number;
  /** When `due_at` was set, or its turn came; later than now if the system clock moved back. */
  set_at: number;
  holder: Holder | null;
}

export type DispatchRow = Mutable<
  Omit<StoredDispatch, 'state' | 'job_name' | 'duration_ms' | 'turn' | 'session' | keyof Wait>
> &
  Due & { state: DispatchState; readonly group: string | null } & {
    /** The session in which it takes turns; null: in none. */
    readonly session: string | null;
    /** A later event replaces it if it waits again. */
    isReplaced?: true;
    /** The number of its group's first event, or its own. */
    readonly place: Ref;
    /** The number of the first event of its burst, if the burst keeps all events. */
    readonly burst: Ref | null;
  };

export interface DeliveryRow extends Due {
  readonly ref: Ref;
  readonly index: number;
  /** Profile and target. */
  readonly lane: string;
  /** `waits`: for approval; `rejected`: it ends unsent. */
  holds: 'waits' | 'rejected' | null;
  toldAt: number | null;
}

export interface MemoryTables {
  last: Ref;
  lastError: LastError | null;
  /** Counts the calls of `take_work`, for the turns of lanes. */
  turn: number;
  jobsVersion: number;
  readonly dispatches: Map<Ref, DispatchRow>;
  readonly deliveries: Set<DeliveryRow>;
  /** Expiry by claimKey. */
  readonly claims: Map<string, number>;
  /** The dispatch of each message, by claimKey, and how long its id is claimed. */
  readonly messages: Map<string, { readonly ref: Ref; readonly ttl_ms: number }>;
  readonly guard: Map<string, GuardRow & { readonly expires_at: number | null }>;
  readonly groups: Map<string, Group & { readonly ref: Ref }>;
  /** The dispatch of a session that has the turn. */
  readonly turns: Map<string, Ref>;
  readonly tallies: Map<string, Record<TallyColumn, number>>;
  /** Maximum concurrent runs of a lane. */
  readonly caps: Map<string, number | null>;
  /** The turn in which a lane was served last. */
  readonly served: Map<string, number>;
  readonly jobs: Map<string, JobRecord>;
  readonly jobStates: Map<string, JobState>;
  readonly ticks: Map<string, Map<number, JobTick>>;
  /** By minute. */
  readonly figures: Map<number, Figures>;
  readonly usage: (RunUsage & { readonly ref: Ref; readonly at: number })[];
}

export function createTables(): MemoryTables {
  return {
    ...{ last: 0, lastError: null, turn: 0, jobsVersion: 0 },
    ...{
      dispatches: new Map(),
      deliveries: new Set(),
      claims: new Map(),
      messages: new Map(),
      guard: new Map(),
      groups: new Map(),
      turns: new Map(),
      tallies: new Map(),
    },
    ...{ caps: new Map(), served: new Map(), jobs: new Map(), jobStates: new Map(), ticks: new Map() },
    figures: new Map(),
    usage: [],
  };
}

/** The name of a lane or a group: JSON, so that no value can forge another. */
export const nameOf = (...parts: readonly (string | null)[]): string => JSON.stringify(parts);

export const laneOf = ({ profile, route }: { readonly profile: string; readonly route: string | null }): string =>
  nameOf(profile, route);

/** The names of an id and of its replay guard. */
export function namesOf(of: ClaimKey | null | undefined): readonly string[] {
  if (of === null || of === undefined) return [];
  return [of.delivery_id, ...(of.guard === undefined ? [] : [of.guard])].map((delivery_id) =>
    claimKey({ ...of, delivery_id }),
  );
}

export const isClaimed = ({ claims }: MemoryTables, claim: ClaimKey | null, now: number): boolean =>
  namesOf(claim).some((name) => (claims.get(name) ?? now) > now);

export function claim({ claims }: MemoryTables, claim: StoredClaim | null | undefined): void {
  const [id, guard] = namesOf(claim);
  if (id !== undefined) claims.set(id, claim?.expires_at ?? 0);
  if (guard !== undefined) claims.set(guard, claim?.guard_expires_at ?? 0);
}

/** A message has one row, under its id and under its guard. */
export function setMessage({ messages }: MemoryTables, claim: StoredClaim, ref: Ref, now: number): void {
  const [id, guard] = namesOf(claim);
  if (id !== undefined) messages.set(id, { ref, ttl_ms: claim.expires_at - now });
  if (guard !== undefined) messages.set(guard, { ref, ttl_ms: (claim.guard_expires_at ?? 0) - now });
}

export function tallyOf(
  { tallies }: MemoryTables,
  of: Pick<Dispatch, 'profile' | 'route'>,
): Record<TallyColumn, number> {
  const name = laneOf(of);
  const tally = tallies.get(name) ?? noCounts();
  tallies.set(name, tally);
  return tally;
}

interface Insert {
  readonly dispatch: Dispatch;
  /** Undefined: the route's limit does not change. */
  readonly max_concurrent?: number | null;
  readonly state: DispatchState;
  readonly due_at: number;
  readonly now: number;
  readonly group?: string;
  /** The dispatch that it replaces in its group. */
  readonly replaced?: DispatchRow | undefined;
}

/** The session in which a dispatch takes turns; null: in none. */
export const sessionOf = ({ profile, session, session_key }: Dispatch): string | null =>
  session_key == null ? null : nameOf(profile, session);

/** The names of the targets of a dispatch and of its outputs, each once. */
export function targetsOf({ deliveries, outputs = [] }: Dispatch): string {
  const names: string[] = [];
  for (const { target, label = target } of [...deliveries, ...outputs.map((output) => output.delivery)])
    if (!names.includes(label)) names.push(label);
  return names.join(', ');
}

export function insert(tables: MemoryTables, { dispatch, state, due_at, now, ...rest }: Insert): DispatchRow {
  const { id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of } = dispatch;
  const max_concurrent = rest.max_concurrent ?? null;
  const ref = ++tables.last;
  const session = sessionOf(dispatch);
  const row: DispatchRow = {
    ...{
      ref,
      session,
      place: rest.replaced?.place ?? ref,
      agent: dispatch.agent ?? null,
      targets: targetsOf(dispatch),
    },
    burst: dispatch.burst == null ? null : (rest.replaced?.place ?? ref),
    ...{ id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of },
    ...{ state, started_at: null, answered_at: null, finished_at: null, reason: null },
    ...{
      dispatch,
      max_concurrent,
      answer: null,
      program: null,
      usage: null,
      steps: [],
      due_at,
      set_at: now,
      holder: null,
    },
    group: rest.group ?? null,
  };
  tables.dispatches.set(row.ref, row);
  const before = rest.replaced;
  if (session !== null && before?.session === session && tables.turns.get(session) === before.ref)
    tables.turns.set(session, ref);
  if (rest.max_concurrent !== undefined) tables.caps.set(laneOf(row), max_concurrent);
  const tally = tallyOf(tables, row);
  tally.accepted++;
  tally[state]++;
  return row;
}

/** True if no other run of its session has the turn. */
export const hasTurn = ({ turns }: MemoryTables, { ref, session }: DispatchRow): boolean =>
  session === null || turns.get(session) === ref;

/** Called after each change: if the run with the turn has ended, the next one gets it. */
export function settleTurns({ dispatches, turns }: MemoryTables, now: number): void {
  const isOpen = (row: DispatchRow | undefined): boolean => row?.state === 'pending' || row?.state === 'running';
  for (const [session, ref] of turns) if (!isOpen(dispatches.get(ref))) turns.delete(session);
  const waiting = [...dispatches.values()].filter((row) => row.session !== null && isOpen(row));
  for (const row of waiting.sort((a, b) => a.place - b.place)) {
    if (row.session === null || turns.has(row.session)) continue;
    turns.set(row.session, row.ref);
    row.set_at = now;
  }
}

/** The runs of its session that a new event ends: those that wait, and with `cancel` the one in progress. */
export function replaceEarlier(tables: MemoryTables, row: DispatchRow, now: number): { replaced?: Ref[] } {
  const { on_newer, replay_of } = row.dispatch;
  if (on_newer === undefined || replay_of !== null || row.session === null || row.state !== 'pending') return {};
  const earlier = [...tables.dispatches.values()].filter(
    (one) => one.session === row.session && one.ref < row.ref && (one.state === 'pending' || one.state === 'running'),
  );
  const own = row.group === null ? undefined : tables.groups.get(row.group)?.ref;
  const replaced: Ref[] = [];
  for (const one of earlier.sort((a, b) => a.place - b.place)) {
    if (one.ref === own) continue;
    if (one.state === 'running' && on_newer === 'latest') one.isReplaced = true;
    else replaced.push(skipReplaced(tables, one, now).ref);
  }
  return replaced.length === 0 ? {} : { replaced };
}

export function skipReplaced(tables: MemoryTables, row: DispatchRow, now: number): DispatchRow {
  if (row.state === 'running') row.steps = [...row.steps, interruptedStep(row.started_at ?? now, now, 'superseded')];
  move(tables, row, 'skipped');
  for (const [name, { ref }] of tables.groups) if (ref === row.ref) tables.groups.delete(name);
  return Object.assign(row, { holder: null, finished_at: now, reason: 'superseded' });
}

/** True if a run that has ended without an outcome does not wait again, because a later one of its session does. */
export const isReplaced = ({ dispatches }: MemoryTables, row: DispatchRow): boolean =>
  row.isReplaced === true &&
  [...dispatches.values()].some(
    ({ session, ref, state }) => session === row.session && ref > row.ref && state === 'pending',
  );

export function move(tables: MemoryTables, row: DispatchRow, to: DispatchState): void {
  const tally = tallyOf(tables, row);
  tally[row.state]--;
  tally[to]++;
  row.state = to;
}

/** Adds the step of a person who has changed a dispatch. */
export function addAction(
  row: DispatchRow,
  outcome: 'replayed' | 'released' | 'dropped',
  by: string,
  at: number,
): void {
  const step = { kind: 'action', index: null, outcome, started_at: at, at, by } as const;
  row.steps = [...row.steps, { ...step, next_at: null, reason: null, sent: 0, message_id: null }];
}
