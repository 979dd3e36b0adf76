/** Budgets in the store in memory. */
import type { BudgetBody, BudgetSpan, OverBudget } from '../../../runtime/store/budget.ts';
import { isFull, mustWait, spend, spentAt } from '../../../runtime/store/budget.ts';
import type { MutationResults } from '../../../runtime/store/mutations.ts';
import type { Advance, BeginRun } from '../../../runtime/store/work-mutations.ts';
import type { MutationHandlers } from './handlers.ts';
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

export function end(tables: MemoryTables, { ref, budgets = [], usage, at }: Advance): void {
  for (const budget of budgets) write(tables, budget, spend(read(tables, budget, at), ref, usage ?? null));
}

function begin(tables: MemoryTables, { ref, holder, budgets, at }: BeginRun): MutationResults['begin_run'] {
  const row = tables.dispatches.get(ref);
  if (row?.state !== 'running' || row.holder !== holder) return { kind: 'gone' };
  const over = refuse(tables, budgets, at, false);
  const others = (budget: BudgetSpan): readonly number[] =>
    read(tables, budget, at).under_way.filter(
      (other) => other !== ref && tables.dispatches.get(other)?.state === 'running',
    );
  const waits = budgets.some((budget) => mustWait(read(tables, budget, at), budget, others(budget).length));
  if (over !== null || waits) {
    if (over === null && row.reason !== 'budget') row.since = at;
    move(tables, row, over === null ? 'pending' : 'skipped');
    Object.assign(row, { holder: null, reason: 'budget' });
    Object.assign(row, over === null ? { due_at: at + 1000, set_at: at } : { finished_at: at });
    return over ?? { kind: 'waiting' };
  }
  const begun = budgets.map((budget) => ({ budget, under_way: [...others(budget), ref] }));
  for (const { budget, under_way } of begun) write(tables, budget, { ...read(tables, budget, at), under_way });
  return { kind: 'begun' };
}

function read({ guard }: MemoryTables, budget: BudgetSpan, now: number): BudgetBody {
  const body = guard.get(nameOf('budget', budget.key))?.body;
  return spentAt(body === undefined ? null : (JSON.parse(body) as BudgetBody), budget, now);
}

function write({ guard }: MemoryTables, { key }: BudgetSpan, body: BudgetBody): void {
  const expires_at = body.until + 7 * 86_400_000;
  guard.set(nameOf('budget', key), { kind: 'budget', key, body: JSON.stringify(body), expires_at });
}
