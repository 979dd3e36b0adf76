/**
 * Counts per route, with which an audit finds lost dispatches, and a cache of the most recently claimed delivery ids.
 */

import type { Mutation, MutationResults } from './contract.ts';
import type { ShownTally, Tally } from './queries.ts';
import type { ClaimKey, StoredClaim } from './records.ts';
import { claimedNames, claimKeys, laneKey } from './records.ts';
import type { DispatchState } from './states.ts';
import { DISPATCH_STATES } from './states.ts';

/** Counts per route that every engine stores in addition to the dispatches, so that an audit finds lost ones. */
export type TallyColumn = DispatchState | 'accepted' | 'removed';

export const TALLY_COLUMNS = ['accepted', 'removed', ...DISPATCH_STATES] as const satisfies readonly TallyColumn[];

/** The counts of a route without events. */
export const noCounts = (): Record<TallyColumn, number> =>
  Object.fromEntries(TALLY_COLUMNS.map((column) => [column, 0])) as Record<TallyColumn, number>;

/** Number of stored dispatches of a route in one state. */
export interface StateCount {
  readonly profile: string;
  readonly route: string | null;
  readonly state: DispatchState;
  readonly count: number;
}

export type BlockedCount = Omit<StateCount, 'state'>;

/**
 * The counts as people see them. @param blocked the dispatches with a blocked delivery; the store counts them as
 * delivering
 */
export function shownTallies(tallies: readonly Tally[], blocked: readonly BlockedCount[]): readonly ShownTally[] {
  const counts = new Map(blocked.map(({ profile, route, count }) => [laneKey(profile, route), count]));
  return tallies.map((tally) => {
    const waiting = counts.get(laneKey(tally.profile, tally.route)) ?? 0;
    return { ...tally, delivering: tally.delivering - waiting, waiting };
  });
}

/** Returns a line for each mismatch between the counts and the stored dispatches. */
export function auditTallies(tallies: readonly Tally[], stored: readonly StateCount[]): readonly string[] {
  const byLane = new Map<string, Partial<Record<DispatchState, number>>>();
  for (const { profile, route, state, count } of stored) {
    const lane = laneKey(profile, route);
    byLane.set(lane, { ...byLane.get(lane), [state]: count });
  }
  return tallies.flatMap((tally) => auditTally(tally, byLane.get(laneKey(tally.profile, tally.route)) ?? {}));
}

/** Returns a line for each mismatch in one route's counts. @param stored number of stored dispatches by state */
export function auditTally(tally: Tally, stored: Readonly<Partial<Record<DispatchState, number>>>): readonly string[] {
  const name = `${tally.profile}/${tally.route ?? '(scheduled)'}`;
  const off: string[] = [];
  const known = DISPATCH_STATES.reduce((sum, state) => sum + tally[state], 0);
  if (known !== tally.accepted) off.push(`${name}: ${tally.accepted} accepted, but ${known} accounted for`);
  for (const state of ['pending', 'running', 'delivering'] as const) {
    const found = stored[state] ?? 0;
    if (found !== tally[state]) off.push(`${name}: ${tally[state]} counted as ${state}, but ${found} stored`);
  }
  const ended = tally.done + tally.dead + tally.skipped - tally.removed;
  const found = (stored.done ?? 0) + (stored.dead ?? 0) + (stored.skipped ?? 0);
  if (found !== ended) off.push(`${name}: ${ended} ended and kept, but ${found} stored`);
  return off;
}

/*
 * A cache of the delivery ids that this process has claimed most recently, for a synchronous check for duplicates.
 *
 * An id is added once the change that claimed it is committed, never before. A claim ends only when it expires. The
 * oldest entries are dropped when the cache is full. So `true` is certain, and after `false` the store must be queried.
 */

/** Size of each of the two generations; the older one is dropped when the newer one is full. */
const GENERATION = 2048;

export class RecentClaims {
  /** Expiry in unix ms, by key. */
  private newer = new Map<string, number>();
  private older = new Map<string, number>();

  /** Adds the claim of a committed change. */
  committed<M extends Mutation>(mutation: M, result: MutationResults[M['kind']]): void {
    for (const [name, expires_at] of claimedNames(claimedBy(mutation, result))) this.add(name, expires_at);
  }

  private add(name: string, expires_at: number): void {
    if (this.newer.size >= GENERATION) {
      this.older = this.newer;
      this.newer = new Map();
    }
    this.newer.set(name, expires_at);
  }

  /** @param now Unix ms */
  has(claim: ClaimKey, now: number): boolean {
    return claimKeys(claim).some((key) => (this.newer.get(key) ?? this.older.get(key) ?? 0) > now);
  }
}

/** The claim that a committed change has made. */
function claimedBy(mutation: Mutation, result: MutationResults[Mutation['kind']]): StoredClaim | null {
  const kind = typeof result === 'object' && result !== null && 'kind' in result ? result.kind : null;
  switch (mutation.kind) {
    case 'accept':
      // The id of a message is free again when its delivery fails permanently.
      return kind === 'stored' && mutation.claiming === 'now' && mutation.work.kind === 'run' ? mutation.claim : null;
    case 'join_group':
      return kind === 'stored' ? mutation.claim : null;
    case 'fire_job':
      // An event for a job that is already running was answered too.
      return kind === 'stored' || kind === 'running' ? mutation.claim : null;
    case 'advance':
      return result === true ? (mutation.claim ?? null) : null;
    default:
      return null;
  }
}
