/** Reserves, begins and ends runs against their budgets. */
import type { BudgetBody, BudgetSpan, OverBudget } from '../budget.ts';
import { isFull, mustWait, spend, spentAt } from '../budget.ts';
import { guardKey } from '../guard-mutations.ts';
import type { MutationResults } from '../mutations.ts';
import { readBudget } from '../stored-budget.ts';
import type { Usage } from '../usage.ts';
import { FOR_BUDGET } from '../wait-counts.ts';
import type { BeginRun } from '../work-mutations.ts';
import { putGuardRow } from './guard.ts';
import type { WorkUnit } from './unit.ts';

/** How long a row is kept after its window, in ms: the largest run is known from it. */
const KEEP_MS = 7 * 86_400_000;
/** When a run that waits for others under way looks again, in ms. */
const WAIT_MS = 1000;

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

/** Begins a run that `holder` has taken; one that has to wait goes back, and one whose budget is full is skipped. */
export function beginRun(unit: WorkUnit, { ref, holder, budgets, at }: BeginRun): MutationResults['begin_run'] {
  const row = unit.rows.work.get(ref);
  if (row === undefined || row.holder !== holder || row.state !== 'running') return { kind: 'gone' };
  const over = refusal(unit, budgets, at, false);
  if (over !== null) {
    unit.move(row, { to: 'skipped', at, reason: 'budget' });
    return over;
  }
  const spent = budgets.map((budget) => {
    const now = read(unit, budget, at);
    return { budget, now, others: now.under_way.filter((other) => other !== ref && unit.rows.isRunning(other)) };
  });
  if (spent.some(({ budget, now, others }) => mustWait(now, budget, others.length))) {
    if (row.reason !== FOR_BUDGET) row.waits_since = at;
    unit.move(row, { to: 'pending', at, due_at: at + WAIT_MS, reason: 'budget' });
    return { kind: 'waiting' };
  }
  for (const { budget, now, others } of spent) put(unit, budget, { ...now, under_way: [...others, ref] });
  return { kind: 'begun' };
}

/** The run has ended, with what it has told. */
export function endRun(
  unit: WorkUnit,
  ref: number,
  budgets: readonly BudgetSpan[],
  usage: Usage | null,
  at: number,
): void {
  for (const budget of budgets) put(unit, budget, spend(read(unit, budget, at), ref, usage));
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
  putGuardRow(unit, { kind: 'budget', key, body: JSON.stringify(body) }, body.until + KEEP_MS);
