/** Budgets of dispatches: which there are, and what is said when one is full. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { BudgetSpan, OverBudget } from '../store/budget.ts';
import { isMessage } from '../store/replay.ts';
import type { DispatchContext } from './context.ts';
import { logFields } from './observer.ts';

/** For the change that stores a run: left out where it has no budget. */
export function budgetsOf(
  { budgets }: Pick<DispatchContext, 'budgets'>,
  dispatch: Dispatch,
  now: number,
): { readonly budgets?: readonly BudgetSpan[] } {
  if (budgets === undefined || isMessage(dispatch)) return {};
  const found = budgets(dispatch, now);
  return found.length === 0 ? {} : { budgets: found };
}

/** Those that limit tokens or cost, which are known when a run has ended. */
export function meteredBudgets(
  context: Pick<DispatchContext, 'budgets'>,
  dispatch: Dispatch,
  now: number,
): readonly BudgetSpan[] {
  const { budgets = [] } = budgetsOf(context, dispatch, now);
  return budgets.filter(({ tokens, cost }) => tokens !== null || cost !== null);
}

/** Says so once for each window. */
export function reportOver(
  { log, observer }: Pick<DispatchContext, 'log' | 'observer'>,
  dispatch: Dispatch,
  over: OverBudget,
): void {
  if (over.first) {
    const { key, until } = over.budget;
    const fields = { ...logFields(dispatch), budget: key, until: new Date(until).toISOString() };
    log.warn(fields, 'a budget is used up: what it is for is not run until then');
  }
  observer?.overBudget?.(dispatch, over);
}
