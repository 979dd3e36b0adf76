/** The budgets that an explained run would count in, and what is spent of them. */
import { NO_AGENT } from '../../../../base/no-agent.ts';
import { listJobs } from '../../../../runtime/dispatch/scheduler/job.ts';
import type { RuntimePart } from '../../../../runtime/module.ts';
import { Budgets } from '../../../../runtime/service/parts.ts';
import type { BudgetSpan } from '../../../../runtime/store/budget.ts';
import { budgetName, readBudget, spentAt } from '../../../../runtime/store/budget.ts';
import type { JobRecord } from '../../../../runtime/store/job-mutations.ts';
import type { Dispatch, Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { SpentBudget } from './explain-services.ts';

export interface BudgetInput {
  readonly table: RouteTable;
  /** Of the table, or of a subscription. */
  readonly plan: RoutePlan;
  readonly dispatch: Dispatch;
}

/** What is looked up only where it is needed; a page has no store. */
export interface BudgetWorld {
  readonly parts: readonly RuntimePart[];
  /** Of the machine. */
  readonly timezone: string;
  /** Unix ms. */
  readonly now: number;
  readonly jobs: () => Promise<readonly JobRecord[]>;
  /** What the store has of each budget, by key. */
  readonly bodies: () => Promise<ReadonlyMap<string, string>>;
}

/** The budgets that a run would count in, with what is spent of them. */
export async function spentBudgets(
  { table, plan, dispatch }: BudgetInput,
  { parts, timezone, now, ...stored }: BudgetWorld,
): Promise<readonly SpentBudget[]> {
  const budgets = new Budgets(parts, timezone);
  await budgets.prepare(table);
  await budgets.subscribed([plan]);
  let { agent = null } = dispatch;
  if (dispatch.job !== null) {
    const records = await stored.jobs();
    await budgets.stored(records);
    agent = listJobs(table, records, timezone).get(dispatch.job)?.agent ?? null;
  }
  const found = agent === NO_AGENT ? [] : budgets.find(table, { ...dispatch, agent }, now);
  if (found.length === 0) return [];
  const bodies = await stored.bodies();
  return found.map((budget) => ({ budget, spent: spentAt(readBudget(bodies.get(budget.key)), budget, now) }));
}

/** Left out where there is none. */
export const reportBudgets = (found: readonly SpentBudget[]): Pick<Explanation, 'budgets'> =>
  found.length === 0 ? {} : { budgets: found.map(reportBudget) };

function reportBudget({ budget, spent }: SpentBudget): NonNullable<Explanation['budgets']>[number] {
  const amounts = ({ runs, tokens, cost }: Pick<BudgetSpan, 'runs' | 'tokens' | 'cost'>) => ({ runs, tokens, cost });
  const until = new Date(budget.until).toISOString();
  return { budget: budgetName(budget.key), limits: amounts(budget), spent: amounts(spent), until };
}
