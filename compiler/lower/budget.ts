/** Lowers `budget:` of a route, an agent, a job or the gateway. */
import type { BudgetConfig, BudgetPlan } from '../../schemas/generated/types.ts';

/** Left out where there is none. */
export function lowerBudget({ budget }: { readonly budget?: BudgetConfig }): { readonly budget?: BudgetPlan } {
  if (budget === undefined) return {};
  const { runs = null, tokens = null, cost = null, per } = budget;
  return { budget: { runs, tokens, cost, per } };
}
