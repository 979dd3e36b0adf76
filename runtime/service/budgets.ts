/**
 * The budgets of runs: those of the table, of its subscriptions, and of jobs that were created at run time. Their code is
 * loaded with the first that there is; without one, a run is not looked up at all.
 */
import { agentPlans } from '../../base/agent-plan.ts';
import type { BudgetPlan, RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { FindBudgets } from '../dispatch/context.ts';
import type { CreateFindBudgets, LaterBudgets, RuntimePart } from '../module.ts';
import type { JobRecord } from '../store/job-mutations.ts';
import { TableError } from '../table/load.ts';

interface Owner {
  readonly budget?: BudgetPlan;
}

const NONE: ReadonlyMap<string, BudgetPlan> = new Map();

export class Budgets implements LaterBudgets {
  routes = NONE;
  jobs = NONE;
  private readonly parts: readonly RuntimePart[];
  private readonly machineZone: string;
  private create: CreateFindBudgets | null = null;
  private linked: { readonly table: RouteTable; readonly find: FindBudgets } | null = null;

  /** @param machineZone IANA zone, for a config that names none */
  constructor(parts: readonly RuntimePart[], machineZone: string) {
    this.parts = parts;
    this.machineZone = machineZone;
  }

  /** @param table in service */
  find(table: RouteTable, ...[of, now]: Parameters<FindBudgets>): ReturnType<FindBudgets> {
    if (this.create === null) return [];
    if (this.linked?.table !== table) this.linked = { table, find: this.create(table, this.machineZone, this) };
    return this.linked.find(of, now);
  }

  /** Call before a table is served. Rejects with TableError when it has a budget, and no module keeps budgets. */
  prepare({ profiles, routes, jobs, gateway }: RouteTable): Promise<void> {
    const agents = Object.values(profiles).flatMap((profile) => agentPlans(profile).map(([, plan]) => plan));
    return this.load([gateway, ...agents, ...Object.values(routes), ...Object.values(jobs)]);
  }

  /** Call before these subscriptions are served, instead of those before. Rejects as `prepare` does. */
  subscribed(plans: readonly RoutePlan[]): Promise<void> {
    this.routes = byKey(plans, ({ profile, name }) => JSON.stringify([profile, name]));
    return this.load(plans);
  }

  /** Call before these jobs fire, instead of those before. Rejects as `prepare` does. */
  stored(records: readonly JobRecord[]): Promise<void> {
    this.jobs = byKey(records, ({ id }) => id);
    return this.load(records);
  }

  private async load(owners: readonly Owner[]): Promise<void> {
    if (this.create !== null || owners.every(({ budget }) => budget === undefined)) return;
    const load = this.parts.find(({ budgets }) => budgets)?.budgets;
    if (load === undefined) throw new TableError('budget: no module of this program keeps budgets');
    this.create = await load();
  }
}

const byKey = <Of extends Owner>(owners: readonly Of[], keyOf: (of: Of) => string): ReadonlyMap<string, BudgetPlan> =>
  new Map(owners.flatMap((of) => (of.budget === undefined ? [] : [[keyOf(of), of.budget] as const])));
