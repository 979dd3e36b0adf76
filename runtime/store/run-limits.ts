/**
 * What limits runs, as the store sees it: rows of the guard. A module says which limits a run has and decides by them; the store
 * asks it in the change that stores, begins or ends a run, so neither runs at once, nor a kill, nor other gateways can spend the
 * same rest twice.
 */
import type { RunLimit } from '../../schemas/built/operations/types.ts';
import type { Usage } from './usage.ts';

export type { RunLimit } from '../../schemas/built/operations/types.ts';

/** A limit refuses the run: nothing was stored but what its row counts. */
export interface OverLimit {
  readonly kind: 'over_limit';
  readonly limit: RunLimit;
  /** Why its event is ignored, or its run is skipped. */
  readonly reason: 'budget' | 'loop';
  /** Unix ms at which runs are taken again; null: nobody knows. */
  readonly until: number | null;
  /** The first refusal of a budget in its window. */
  readonly first: boolean;
  /** For the operator. */
  readonly detail: string;
}

type LimitKey = Pick<RunLimit, 'kind' | 'key'>;

/** The rows of the guard in one change. */
export interface GuardRows {
  /** The body; undefined: there is no such row. */
  guardRow(of: LimitKey): string | undefined;
  /** @param expires_at Unix ms from which it may be removed */
  putGuardRow(row: LimitKey & { readonly body: string }, expires_at: number): void;
}

/** Decides by limits, in plain code over the rows of a change. */
export interface RunCounter {
  /** URL of the file that exports it as `runCounter`: the writer of a file loads it in its thread. */
  readonly url: string;
  /** Counts a run that is stored, or returns what refuses it. */
  count(rows: GuardRows, limits: readonly RunLimit[], now: number): OverLimit | null;
  /** What keeps a run from beginning; null: it begins. */
  begin(rows: GuardRows, limits: readonly RunLimit[], now: number): OverLimit | null;
  /** Adds what a run has used. */
  spend(rows: GuardRows, limits: readonly RunLimit[], usage: Usage, at: number): void;
}

function refuseLimits(_rows: GuardRows, limits: readonly RunLimit[]): null {
  if (limits.length > 0) throw new Error('no module of this program counts runs');
  return null;
}

/** Of a store without the module. */
export const NO_COUNTER: RunCounter = { url: '', count: refuseLimits, begin: refuseLimits, spend: refuseLimits };
