/** Alerts of budgets that are used up: one for each window, over when the window ends. */
import type { AlertCondition } from '../../../runtime/dispatch/guard.ts';
import type { BudgetSpan } from '../../../runtime/store/budget.ts';
import { budgetAmounts, budgetName, readBudget } from '../../../runtime/store/budget.ts';
import type { Store } from '../../../runtime/store/store.ts';

export interface FullBudget {
  readonly of: AlertCondition;
  readonly reason: string;
}

const conditionOf = (key: string, until: number): AlertCondition => {
  const subject = `${budgetName(key)}, until ${new Date(until).toISOString()}`;
  return { kind: 'budget', subject, until };
};

/** Of a run that was refused. */
export const refusedBy = (budget: BudgetSpan): FullBudget => ({
  of: conditionOf(budget.key, budget.until),
  reason: `the limit is ${budgetAmounts(budget)}: what comes until then is not run`,
});

/** Those that have refused a run in the present window, also if the gateway that refused it was killed. */
export async function fullBudgets(store: Pick<Store, 'read'>, now: number): Promise<readonly FullBudget[]> {
  const rows = await store.read({ kind: 'guard_rows', of: 'budget' });
  return rows.flatMap(({ key, body }) => {
    const spent = readBudget(body);
    if (spent === null || !spent.refused || spent.until <= now) return [];
    const reason = `spent: ${budgetAmounts(spent)}; what comes until then is not run`;
    return [{ of: conditionOf(key, spent.until), reason }];
  });
}
