/**
 * The parts of a service that modules provide: the limits of runs, the guard, approvals, statuses, and the sandbox of programs.
 * Each is opened with the first table, subscription, job or delivery that needs it.
 */

import { agentPlans } from '../../base/names.ts';
import type { LastingAlert } from '../../schemas/built/operations/types.ts';
import type { BudgetPlan, RoutePlan, RouteTable, SandboxPlan } from '../../schemas/generated/types.ts';
import type { Approvals, ApprovingContext, Guard, GuardContext } from '../dispatch/context.ts';
import type { Observers } from '../dispatch/dispatcher.ts';
import type { CountRequest } from '../intake/event-log.ts';
import type { Statuses } from '../intake/intake.ts';
import type { LimitsContext, OpenLimits, RunLimits, RuntimePart } from '../module.ts';
import { findPart, requirePart } from '../module.ts';
import { Lazy } from '../platform/lazy.ts';
import type { RunProcess } from '../platform/process/run-process.ts';
import type { Confine, Sandbox, SandboxContext, SandboxTools } from '../platform/process/sandbox.ts';
import { SANDBOX_UNAVAILABLE } from '../platform/process/sandbox.ts';
import { TableError } from '../table/table-source.ts';

type Modules = readonly RuntimePart[];

/** Limits for a program without a module for them: rejects budgets. */
const NO_LIMITS: OpenLimits = {
  counted: () => [],
  metered: () => [],
  subscribed: refuseBudgets,
  stored: refuseBudgets,
  prepare({ profiles, routes, jobs, gateway }) {
    const agents = Object.values(profiles).flatMap((profile) => agentPlans(profile).map(([, plan]) => plan));
    refuseBudgets([gateway, ...agents, ...Object.values(routes), ...Object.values(jobs)]);
  },
};

function refuseBudgets(owners: readonly { readonly budget?: BudgetPlan }[]): void {
  if (owners.some(({ budget }) => budget !== undefined))
    throw new TableError('`budget` needs the module guard, which is not loaded');
}

export const openLimits = (part: RunLimits | null, context: LimitsContext): OpenLimits =>
  part?.open(context) ?? NO_LIMITS;

const NO_ALERTS: readonly LastingAlert[] = [];

/** The guard: opened with the first table that has alerts or a heartbeat. Until then, its methods do nothing. */
export class LazyGuard {
  private readonly guard: Lazy<Guard>;

  constructor(modules: Modules, context: GuardContext, observers: Observers) {
    this.guard = new Lazy(async () => {
      const guard = (await requirePart(modules, 'guard'))(context);
      observers.add(guard.observer);
      return guard;
    });
  }

  readonly requested: CountRequest = ({ route, outcome, authentic }) => {
    if (route !== '')
      this.guard.opened?.requested(
        route,
        outcome === 'invalid_signature' ? false : authentic === true ? true : null,
        outcome === 'rate_limited',
      );
  };

  get lasting(): readonly LastingAlert[] {
    return this.guard.opened?.lasting ?? NO_ALERTS;
  }

  readonly raise: Guard['raise'] = (...of) => this.guard.opened?.raise(...of);
  readonly clear: Guard['clear'] = (of) => this.guard.opened?.clear(of);
  readonly test: Guard['test'] = async () => (await this.guard.opened?.test()) ?? null;

  /** Rejects with TableError if no module provides a guard. */
  async prepare({ gateway: { alerts = null, heartbeat = null } }: RouteTable): Promise<void> {
    if (alerts !== null || heartbeat !== null) await this.guard.use();
  }

  close(): Promise<void> {
    return this.guard.end((guard) => guard.close());
  }
}

/** Approvals: opened with the first table, or the first delivery, that needs them. */
export class LazyApprovals extends Lazy<Approvals> {
  private readonly context: ApprovingContext;

  constructor(modules: Modules, context: ApprovingContext) {
    super(async () => (await requirePart(modules, 'approvals'))(context));
    this.context = context;
  }

  /** Rejects with TableError if no module provides approvals. */
  async prepare(table: RouteTable): Promise<void> {
    if (table.gateway.approvals !== undefined || needsApproval(table)) await this.use();
  }

  /** Called when a delivery waits for approval. */
  asked(): void {
    this.use().then(
      (approvals) => approvals.changed(),
      (error: unknown) => this.context.log.error({ err: error }, 'could not request approval'),
    );
  }

  close(): Promise<void> {
    return this.end((approvals) => approvals.close());
  }
}

function needsApproval({ routes, jobs }: RouteTable): boolean {
  const owners = [...Object.values(routes), ...Object.values(jobs)];
  const all = owners.flatMap(({ deliver, outputs = [] }) => [...deliver, ...outputs.map(({ delivery }) => delivery)]);
  return all.some(({ approve_ms }) => approve_ms !== undefined);
}

/** Opens statuses and progress if one of these routes has them. Rejects with TableError if no module provides them. */
export async function prepareEvents(
  parts: { readonly statuses: Lazy<Statuses>; readonly progress: Lazy<unknown> },
  plans: readonly RoutePlan[],
): Promise<void> {
  if (plans.some(({ status }) => status !== undefined)) await parts.statuses.use();
  if (plans.some(({ progress }) => progress !== undefined)) await parts.progress.use();
}

/** Runs programs in a module's sandbox, which is loaded with the first program that needs it. */
export interface Confinement {
  readonly confine: Confine;
  /** Call before these routes of the table are served: programs must not change the files that decide what the gateway does. */
  keep(table: RouteTable, plans: readonly RoutePlan[]): Promise<void>;
  /** Why sandboxes do not work on this machine, with the command that fixes it; null: they work. Tests it. */
  problem(): Promise<string | null>;
  /** Paths of plans that cannot be opened here now, with the reasons. */
  closed(plans: readonly SandboxPlan[]): Promise<readonly string[]>;
}

const NONE = `${SANDBOX_UNAVAILABLE}: sandboxes need the module sandbox, which is not loaded`;
const NO_SANDBOX: Sandbox = {
  run: () => Promise.resolve({ kind: 'spawn_failed', code: NONE, stderr: '' }),
  problem: () => Promise.resolve(NONE),
  closed: () => [],
};
const NO_TOOLS: SandboxTools = { open: () => NO_SANDBOX, keptFiles: () => [] };

export function createConfinement(modules: Modules, context: Omit<SandboxContext, 'kept'>): Confinement {
  /** Includes files of earlier tables. */
  const gatewayPaths = new Set<string>();
  const tools = new Lazy(async () => (await findPart(modules, 'sandbox')) ?? NO_TOOLS);
  const sandbox = new Lazy(async () => (await tools.use()).open({ ...context, kept: () => [...gatewayPaths] }));
  return {
    async keep(table, plans) {
      if (tools.opened === null && sandboxesOf(table).length === 0) return;
      const { keptFiles } = await tools.use();
      for (const path of keptFiles(table, plans, context)) gatewayPaths.add(path);
    },
    confine: (plan, walls = {}): RunProcess =>
      plan === null ? context.run : async (request) => (await sandbox.use()).run(plan, walls, request),
    problem: async () => (await sandbox.use()).problem(),
    closed: async (plans) => (await sandbox.use()).closed(plans),
  };
}

/** The sandboxes that programs of the table run in. */
export function sandboxesOf({ gateway, profiles }: Pick<RouteTable, 'gateway' | 'profiles'>): readonly SandboxPlan[] {
  const agents = Object.values(profiles).flatMap((profile) => agentPlans(profile).map(([, agent]) => agent));
  // A table of an older compiler has no such key.
  return [gateway, ...agents].flatMap((plan) => ('sandbox' in plan ? (plan.sandbox ?? []) : []));
}
