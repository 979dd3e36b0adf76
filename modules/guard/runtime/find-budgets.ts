/** The budgets that a run counts in: of its route, its agent, its job and the gateway. */
import { agentPlan } from '../../../base/agent-plan.ts';
import type { FindBudgets } from '../../../runtime/dispatch/context.ts';
import type { LaterBudgets } from '../../../runtime/module.ts';
import type { BudgetSpan } from '../../../runtime/store/budget.ts';
import type { BudgetPlan, RouteTable } from '../../../schemas/generated/types.ts';
import { createWindows } from './budget-window.ts';

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
