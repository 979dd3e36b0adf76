/** What the memory store keeps, and the helpers that both its sides need. */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Group } from '../../coalesce/group.ts';
import { ClaimMap } from '../claim-map.ts';
import type { Accept, ClaimKey, Ref, StoredClaim } from '../mutations.ts';
import type { DispatchState } from '../states.ts';
import type { LastError, StoredDispatch, Tally } from '../store.ts';
import { NO_COUNTS } from '../tally.ts';

export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** `ready_at` is null while it waits in a group. `tally`: the counts of its route. */
export type Kept = Mutable<StoredDispatch> & {
  state: DispatchState;
  ready_at: number | null;
  readonly tally: Mutable<Tally>;
};

export type KeptGroup = Group & {
  readonly profile: string;
  readonly route: string;
  readonly key: string;
  readonly ref: Ref;
};

export interface MemoryTables {
  last: Ref;
  failure: LastError | null;
  readonly kept: Map<Ref, Kept>;
  readonly byId: Map<string, Ref>;
  readonly claims: ClaimMap;
  readonly groups: Map<string, KeptGroup>;
  readonly inbox: Set<Ref>;
  readonly tallies: Map<string, Mutable<Tally>>;
  /** How many that have ended to keep. */
  readonly keep: number;
  /** Those that have ended, in order; `oldest` is the index of the first that is still kept. */
  ended: Ref[];
  oldest: number;
}

export function createTables(keep: number): MemoryTables {
  return {
    keep,
    ended: [],
    oldest: 0,
    last: 0,
    failure: null,
    kept: new Map(),
    byId: new Map(),
    claims: new ClaimMap(),
    groups: new Map(),
    inbox: new Set(),
    tallies: new Map(),
  };
}

/** Route names and profiles hold no NUL; of the last part it does not matter. */
export const key = (profile: string, route: string, name: string): string => `${profile}\0${route}\0${name}`;

export function isFree(tables: MemoryTables, claim: ClaimKey | null, now: number): boolean {
  return claim === null || !tables.claims.holds(claim, now);
}

/** True: nobody held the id. */
export function takeClaim(tables: MemoryTables, claim: StoredClaim | null, now: number): boolean {
  if (claim === null) return true;
  if (!isFree(tables, claim, now)) return false;
  tables.claims.set(claim);
  return true;
}

type Insert = Pick<Accept, 'dispatch' | 'max_concurrent'>;

export function insert(tables: MemoryTables, entry: Insert, state: DispatchState, ready_at: number | null): Kept {
  const { dispatch, max_concurrent } = entry;
  const ref: Ref = ++tables.last;
  const kept: Kept = {
    ref,
    id: dispatch.id,
    profile: dispatch.profile,
    route: dispatch.route,
    job: dispatch.job,
    mode: dispatch.mode,
    event: dispatch.event,
    delivery_id: dispatch.delivery_id,
    accepted_at: dispatch.accepted_at,
    replay_of: dispatch.replay_of,
    state,
    ready_at,
    started_at: null,
    answered_at: null,
    finished_at: null,
    reason: null,
    dispatch,
    max_concurrent,
    answer: null,
    steps: [],
    tally: tallyOf(tables, dispatch),
  };
  tables.kept.set(ref, kept);
  tables.byId.set(kept.id, ref);
  kept.tally.accepted++;
  kept.tally[state]++;
  return kept;
}

function tallyOf({ tallies }: MemoryTables, { profile, route }: Dispatch): Mutable<Tally> {
  const name = key(profile, route ?? '', '');
  let tally = tallies.get(name);
  if (tally === undefined) {
    tally = { profile, route, ...NO_COUNTS };
    tallies.set(name, tally);
  }
  return tally;
}

/** It has ended; the oldest of those beyond the number to keep goes. */
export function retire(tables: MemoryTables, { ref }: Kept): void {
  tables.ended.push(ref);
  if (tables.ended.length - tables.oldest <= tables.keep) return;
  const kept = tables.kept.get(tables.ended[tables.oldest++] ?? 0);
  if (kept !== undefined) remove(tables, kept);
  if (tables.oldest <= tables.keep) return;
  tables.ended = tables.ended.slice(tables.oldest);
  tables.oldest = 0;
}

export function remove(tables: MemoryTables, kept: Kept): void {
  tables.kept.delete(kept.ref);
  tables.byId.delete(kept.id);
  kept.tally.removed++;
}
