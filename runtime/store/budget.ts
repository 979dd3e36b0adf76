/**
 * Budgets: how many runs, tokens or how much cost a window of time may have. A budget is one row of the guard, which is read and
 * written in the change that stores a run, begins it or ends it: so neither runs at once, nor a kill, nor other gateways can
 * spend the same rest twice.
 *
 *   accepted ──> full: refused          begins ──> full: the dispatch is skipped        ends ──> its usage is added
 *      └──> one run is reserved            ├─────> what is under way may fill it: waits
 *                                          └─────> under way, as the largest run so far
 */
import type { BudgetSpan } from '../../schemas/built/operations/types.ts';
import type { Ref } from './identity.ts';
import type { Usage } from './usage.ts';

export type { BudgetSpan } from '../../schemas/built/operations/types.ts';

/** A budget is full: nothing was stored but that. */
export interface OverBudget {
  readonly kind: 'over_budget';
  readonly budget: BudgetSpan;
  /** The first refusal of this window. */
  readonly first: boolean;
}

/** What was spent of a budget. */
export interface BudgetBody {
  /** The window that the counts belong to. */
  readonly since: number;
  readonly until: number;
  readonly runs: number;
  readonly tokens: number;
  readonly cost: number;
  /** The largest run so far, of any window; null: none has told. */
  readonly largest_tokens: number | null;
  readonly largest_cost: number | null;
  /** Runs that have begun; those that are not running any more do not count. */
  readonly under_way: readonly Ref[];
  /** It has refused a run in this window. */
  readonly refused: boolean;
}

/**
 * What was spent in the window of `now`. A window ends only when its end has passed, so that gateways in other zones do not begin it
 * anew; when the clock was set back, what was spent counts in the earlier window.
 */
export function spentAt(stored: BudgetBody | null, { since, until }: BudgetSpan, now: number): BudgetBody {
  const none = { since, until, runs: 0, tokens: 0, cost: 0, refused: false };
  if (stored === null) return { ...none, largest_tokens: null, largest_cost: null, under_way: [] };
  if (now >= stored.until) return { ...stored, ...none };
  return now < stored.since ? { ...stored, since, until } : stored;
}

/** Whether no further run may be accepted, or begin. */
export const isFull = ({ runs, tokens, cost }: BudgetBody, budget: BudgetSpan, accepting: boolean): boolean =>
  (accepting && budget.runs !== null && runs >= budget.runs) ||
  (budget.tokens !== null && tokens >= budget.tokens) ||
  (budget.cost !== null && cost >= budget.cost);

/** Whether one more run has to wait for those under way. @param count of other runs under way */
export function mustWait(spent: BudgetBody, { tokens, cost }: BudgetSpan, count: number): boolean {
  const mayFill = (limit: number | null, sum: number, largest: number | null): boolean =>
    limit !== null && count > 0 && (largest === null || sum + count * largest >= limit);
  return mayFill(tokens, spent.tokens, spent.largest_tokens) || mayFill(cost, spent.cost, spent.largest_cost);
}

/** Adds what a run has used; null: it has not told. */
export function spend(spent: BudgetBody, ref: Ref, usage: Usage | null): BudgetBody {
  const under_way = spent.under_way.filter((other) => other !== ref);
  if (usage === null) return { ...spent, under_way };
  const { input_tokens, output_tokens, cost } = usage;
  const tokens = input_tokens === null && output_tokens === null ? null : (input_tokens ?? 0) + (output_tokens ?? 0);
  const most = (largest: number | null, used: number | null): number | null =>
    used === null ? largest : Math.max(largest ?? 0, used);
  return {
    ...spent,
    tokens: spent.tokens + (tokens ?? 0),
    cost: spent.cost + (cost ?? 0),
    largest_tokens: most(spent.largest_tokens, tokens),
    largest_cost: most(spent.largest_cost, cost),
    under_way,
  };
}
