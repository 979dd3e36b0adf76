/**
 * The interface between the store and the module that limits runs. The store calls the module in the change that
 * stores, begins or ends a run. So neither concurrent runs, nor a kill, nor other gateways can spend the same budget
 * twice.
 */
import type { OverLimit, RunLimit } from '../../schemas/built/operations/types.ts';
import type { Usage } from './usage.ts';

export type { OverLimit, RunLimit } from '../../schemas/built/operations/types.ts';

type LimitKey = Pick<RunLimit, 'kind' | 'key'>;

/** The rows of the guard in one change. */
export interface GuardRows {
  /** The body; undefined: there is no such row. */
  guardRow(of: LimitKey): string | undefined;
  /** @param expires_at Unix ms from which it may be removed */
  putGuardRow(row: LimitKey & { readonly body: string }, expires_at: number): void;
}

/** Decides by limits. A pure function of the rows of a change. */
export interface RunCounter {
  /** Counts a run that is stored, or returns the limit that rejects or holds it. */
  count(rows: GuardRows, limits: readonly RunLimit[], now: number): OverLimit | null;
  /** Notes a run that was stored although the limit holds it. */
  hold(rows: GuardRows, over: OverLimit, ref: number): void;
  /** Returns the limit that keeps a run from beginning; null: it begins. */
  begin(rows: GuardRows, limits: readonly RunLimit[], now: number): OverLimit | null;
  /** Adds the usage of a run. */
  spend(rows: GuardRows, limits: readonly RunLimit[], usage: Usage, at: number): void;
}

function refuseLimits(_rows: GuardRows, limits: readonly RunLimit[]): null {
  if (limits.length > 0) throw new Error('run limits need the guard module, which is not installed');
  return null;
}

/** The counter of a store without the module. */
export const NO_COUNTER: RunCounter = { count: refuseLimits, hold() {}, begin: refuseLimits, spend: refuseLimits };
