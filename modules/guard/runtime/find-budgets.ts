/** The budgets that a run counts in: of its route, its agent, its job and the gateway. */
import { agentPlan } from '../../../base/names.ts';
import type { AlertCondition, FindBudgets } from '../../../runtime/dispatch/context.ts';
import type { LaterBudgets } from '../../../runtime/module.ts';
import type { BudgetSpan } from '../../../runtime/store/budget.ts';
import { budgetAmounts, budgetName, readBudget } from '../../../runtime/store/budget.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import type { BudgetPlan, RouteTable } from '../../../schemas/generated/types.ts';

/** @param machineZone used where the gateway names none */
export function createFindBudgets(table: RouteTable, machineZone: string, later: LaterBudgets): FindBudgets {
  const { profiles, routes, jobs, gateway } = table;
  const windowAt = createWindows(gateway.timezone ?? machineZone);
  const ofRoutes = new Map(
    Object.values(routes).flatMap(({ profile, name, budget }) =>
      budget === undefined ? [] : [[JSON.stringify([profile, name]), budget] as const],
    ),
  );
  const agentBudget = (profile: string, name: string | null): BudgetPlan | undefined => {
    const plan = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
    return plan === undefined ? undefined : agentPlan(plan, name)?.budget;
  };
  return ({ profile, route, job, agent = null }, now) => {
    const name = JSON.stringify([profile, route]);
    const found: readonly (readonly [BudgetPlan | undefined, readonly (string | null)[]])[] = [
      [route === null ? undefined : (ofRoutes.get(name) ?? later.routes.get(name)), ['route', profile, route]],
      [agentBudget(profile, agent), ['agent', profile, agent]],
      [job === null ? undefined : Object.hasOwn(jobs, job) ? jobs[job]?.budget : later.jobs.get(job), ['job', job]],
      [gateway.budget, ['gateway']],
    ];
    return found.flatMap(([plan, owner]) => {
      if (plan === undefined) return [];
      const { per, ...limits } = plan;
      const span: BudgetSpan = { key: JSON.stringify([...owner, per]), ...limits, ...windowAt(per, now) };
      return [span];
    });
  };
}

/** The hour or day of a time zone that an instant belongs to. */
export interface Window {
  /** Unix ms, and the end. */
  readonly since: number;
  readonly until: number;
}

const HOUR = 3_600_000;
/** Longer than any day. */
const DAY_AT_MOST = 27 * HOUR;

/** Returns a function that computes windows, and the same one for instants within it. */
export function createWindows(timeZone: string): (per: BudgetPlan['per'], now: number) => Window {
  const known = new Map<BudgetPlan['per'], Window>();
  const local = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const partsOf = (at: number): Readonly<Record<string, number>> =>
    Object.fromEntries(local.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const dayOf = (at: number): string => {
    const { year, month, day } = partsOf(at);
    return `${year}-${month}-${day}`;
  };
  const hour = (now: number): Window => {
    const { minute = 0, second = 0 } = partsOf(now);
    const since = Math.floor(now / 1000) * 1000 - minute * 60_000 - second * 1000;
    return { since, until: since + HOUR };
  };
  // A day has 24 hours, or some more or fewer where the clocks are changed.
  const day = (now: number): Window => {
    const today = dayOf(now);
    const isToday = (at: number): boolean => dayOf(at) === today;
    return {
      since: boundary(now - DAY_AT_MOST, now, isToday),
      until: boundary(now, now + DAY_AT_MOST, (at) => !isToday(at)),
    };
  };
  const compute = { hour, day };
  return (per, now) => {
    const last = known.get(per);
    if (last !== undefined && now >= last.since && now < last.until) return last;
    const window = compute[per](now);
    known.set(per, window);
    return window;
  };
}

/** The first ms at which `holds`, which it does at `to` and not at `from`. */
function boundary(from: number, to: number, holds: (at: number) => boolean): number {
  let [before, after] = [Math.floor(from), Math.floor(to)];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (holds(middle)) after = middle;
    else before = middle;
  }
  return after;
}

/** Alerts of budgets that are used up: one for each window, over when the window ends. */
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
