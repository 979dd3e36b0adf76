/** Counts runs, and what they use, against their budgets. */
import type { BudgetBody, BudgetSpan, OverBudget } from '../budget.ts';
import { isFull, readBudget, spend, spentAt } from '../budget.ts';
import { guardKey } from '../guard-mutations.ts';
import type { Usage } from '../usage.ts';
import { putGuardRow } from './guard.ts';
import type { WorkUnit } from './unit.ts';

/** What gateways of the previous version read besides, while they run beside this one. The next version goes without. */
const OF_PREVIOUS = { largest_tokens: null, largest_cost: null, under_way: [] };
/** How long a row is kept after its window, in ms, for a clock that is set back. */
const KEEP_MS = 86_400_000;

/** The first of the budgets that has no run left; null: a run can be reserved in each. */
export const refuseRun = (unit: WorkUnit, budgets: readonly BudgetSpan[] = [], now: number): OverBudget | null =>
  refusal(unit, budgets, now, true);

/** Reserves a run in each of the budgets. */
export function reserveRun(unit: WorkUnit, budgets: readonly BudgetSpan[] = [], now: number): void {
  for (const budget of budgets) {
    if (budget.runs === null) continue;
    const spent = read(unit, budget, now);
    put(unit, budget, { ...spent, runs: spent.runs + 1 });
  }
}

/** The first of the budgets whose tokens or cost are used up; null: a run may begin. */
export const refuseMetered = (unit: WorkUnit, budgets: readonly BudgetSpan[], now: number): OverBudget | null =>
  refusal(unit, budgets, now, false);

/** Adds what a run has used. */
export function spendIn(unit: WorkUnit, budgets: readonly BudgetSpan[], usage: Usage, at: number): void {
  for (const budget of budgets) put(unit, budget, spend(read(unit, budget, at), usage));
}

function refusal(unit: WorkUnit, budgets: readonly BudgetSpan[], now: number, accepting: boolean): OverBudget | null {
  const budget = budgets.find((one) => isFull(read(unit, one, now), one, accepting));
  if (budget === undefined) return null;
  const spent = read(unit, budget, now);
  if (!spent.refused) put(unit, budget, { ...spent, refused: true });
  return { kind: 'over_budget', budget, first: !spent.refused };
}

function read({ rows }: WorkUnit, budget: BudgetSpan, now: number): BudgetBody {
  const body = rows.guard.get(rows.keyOf(guardKey({ kind: 'budget', key: budget.key })));
  return spentAt(readBudget(body), budget, now);
}

const put = (unit: WorkUnit, { key }: BudgetSpan, body: BudgetBody): void =>
  putGuardRow(unit, { kind: 'budget', key, body: JSON.stringify({ ...body, ...OF_PREVIOUS }) }, body.until + KEEP_MS);
