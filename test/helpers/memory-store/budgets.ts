/** Budgets in the store in memory. */
import type { BudgetBody, BudgetSpan, OverBudget } from '../../../runtime/store/budget.ts';
import { isFull, spend, spentAt } from '../../../runtime/store/budget.ts';
import type { Advance, BeginRun, MutationResults } from '../../../runtime/store/contract.ts';
import type { MutationHandlers } from './handlers.ts';
import { fireLate } from './jobs.ts';
import type { MemoryTables } from './tables.ts';
import { move, nameOf } from './tables.ts';

export const budgetHandlers = (tables: MemoryTables): Pick<MutationHandlers, 'begin_run'> => ({
  begin_run: (m) => begin(tables, m),
});

/** Null: all have a run left. */
export function refuse(
  tables: MemoryTables,
  budgets: readonly BudgetSpan[] = [],
  now: number,
  accepting = true,
): OverBudget | null {
  for (const budget of budgets) {
    const spent = read(tables, budget, now);
    if (!isFull(spent, budget, accepting)) continue;
    if (!spent.refused) write(tables, budget, { ...spent, refused: true });
    return { kind: 'over_budget', budget, first: !spent.refused };
  }
  return null;
}

export function reserve(tables: MemoryTables, budgets: readonly BudgetSpan[] = [], now: number): void {
  for (const budget of budgets) {
    const spent = read(tables, budget, now);
    if (budget.runs !== null) write(tables, budget, { ...spent, runs: spent.runs + 1 });
  }
}

export function end(tables: MemoryTables, { budgets = [], usage, at }: Advance): void {
  if (usage === undefined) return;
  for (const budget of budgets) write(tables, budget, spend(read(tables, budget, at), usage));
}

function begin(tables: MemoryTables, { ref, holder, budgets, job, at }: BeginRun): MutationResults['begin_run'] {
  const row = tables.dispatches.get(ref);
  if (row?.state !== 'running' || row.holder !== holder) return { kind: 'gone' };
  const over = (job === null ? null : fireLate(tables, row, job, at)) ?? refuse(tables, budgets, at, false);
  if (over === null) return { kind: 'begun' };
  move(tables, row, 'skipped');
  const reason = over.kind === 'over_budget' ? 'budget' : over.kind;
  Object.assign(row, { holder: null, reason, finished_at: at });
  return over;
}

function read({ guard }: MemoryTables, budget: BudgetSpan, now: number): BudgetBody {
  const body = guard.get(nameOf('budget', budget.key))?.body;
  return spentAt(body === undefined ? null : (JSON.parse(body) as BudgetBody), budget, now);
}

function write({ guard }: MemoryTables, { key }: BudgetSpan, body: BudgetBody): void {
  const expires_at = body.until + 86_400_000;
  guard.set(nameOf('budget', key), { kind: 'budget', key, body: JSON.stringify(body), expires_at });
}
