/**
 * What would stop an explained run or its deliveries: budgets that are spent, and drivers that refuse before anything
 * is sent. None is contacted.
 */

import { NO_AGENT } from '../../../../base/names.ts';
import { createDeliverer } from '../../../../runtime/deliver/create-deliverer.ts';
import type { DeliveryContext } from '../../../../runtime/deliver/deliverer.ts';
import { DeliveryRefusal } from '../../../../runtime/deliver/http/values.ts';
import { linkTargets, loadDrivers } from '../../../../runtime/deliver/link-targets.ts';
import { listJobs } from '../../../../runtime/dispatch/scheduler/job.ts';
import type { RuntimePart } from '../../../../runtime/module.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets.ts';
import { Budgets } from '../../../../runtime/service/parts.ts';
import type { BudgetSpan } from '../../../../runtime/store/budget.ts';
import { budgetName, readBudget, spentAt } from '../../../../runtime/store/budget.ts';
import type { JobRecord } from '../../../../runtime/store/records.ts';
import type { Dispatch, Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { RefusesDelivery, SpentBudget } from './explain-services.ts';
import { lenient } from './explain-services.ts';

/** @param secrets those that are missing stand as their references */
export async function linkRefusal(
  table: RouteTable,
  secrets: SecretResolver,
  context: DeliveryContext,
): Promise<RefusesDelivery> {
  const drivers = await loadDrivers(table, context);
  const { linked, problems } = linkTargets(table, lenient(secrets), context, drivers);
  const deliverer = createDeliverer({ linked, context, mirror: async () => {} });
  return async (profile, asked, text) => {
    // Where a reference stands for the secret, it may not have the secret's form: what is sent then is not known.
    const isUnknown = problems.some((problem) => problem.profile === profile && problem.target === asked.target);
    if (isUnknown || isOpenHome(table, secrets, profile, asked)) return null;
    if (text === null) return deliverer.refusal(profile, asked);
    const message = {
      ...asked,
      profile,
      text,
      key: 'x',
      route: 'x',
      delivery_id: 'x',
      sent: 0,
      first_attempt_at: null,
    };
    try {
      await deliverer.show({ ...message, mirror_to_session: false, signal: NEVER });
      return null;
    } catch (error) {
      if (error instanceof DeliveryRefusal) return error.message;
      throw error;
    }
  };
}

const NEVER = new AbortController().signal;

/** Whether the chat is a home channel whose reference cannot be resolved here. */
function isOpenHome(
  { profiles }: RouteTable,
  secrets: SecretResolver,
  profile: string,
  { target, extra }: Parameters<RefusesDelivery>[1],
): boolean {
  const ref = profiles[profile]?.targets[target]?.credentials.home_channel;
  if (ref === undefined || Object.hasOwn(extra, 'chat_id')) return false;
  try {
    secrets.resolve(ref, 'home_channel');
    return false;
  } catch {
    return true;
  }
}

/** The budgets that an explained run would count in, and what is spent of them. */
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
