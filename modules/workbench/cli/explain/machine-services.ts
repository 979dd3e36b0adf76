/**
 * What explanations take from this machine, as the gateway does: lists, scripts, jobs, the drivers of targets, marks. The code
 * behind each is loaded when it is needed.
 */

import { NO_AGENT } from '../../../../base/no-agent.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { hiddenFiles } from '../../../../cli/files/hidden-files.ts';
import { DeliveryRefusal } from '../../../../runtime/deliver/http/values.ts';
import { listJobs } from '../../../../runtime/dispatch/scheduler/job.ts';
import type { RunScript } from '../../../../runtime/intake/script-runner.ts';
import { loadMarks } from '../../../../runtime/module.ts';
import type { GatewayFiles } from '../../../../runtime/platform/node-files.ts';
import { gatewayFiles } from '../../../../runtime/platform/node-files.ts';
import { userHome } from '../../../../runtime/platform/secrets/machine-secrets.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import { Budgets } from '../../../../runtime/service/budgets.ts';
import { spentAt } from '../../../../runtime/store/budget.ts';
import { decodeOr } from '../../../../runtime/store/decode.ts';
import type { OverLimit } from '../../../../runtime/store/event-mutations.ts';
import type { RunLimit } from '../../../../runtime/store/guard-mutations.ts';
import { guardKey } from '../../../../runtime/store/guard-mutations.ts';
import { isJobPaused, NO_STATE } from '../../../../runtime/store/job-mutations.ts';
import { readBudget } from '../../../../runtime/store/stored-budget.ts';
import { overLimit } from '../../../../runtime/store/unit/guard.ts';
import type { ListFiles } from '../../../../runtime/table/in-file-set.ts';
import type { LinkContext } from '../../../../runtime/table/link-context.ts';
import { LinkError } from '../../../../runtime/table/link-context.ts';
import { RouteSlot } from '../../../../runtime/table/link-route.ts';
import type { Marks } from '../../../../runtime/table/link-template.ts';
import { EXAMPLE_INSTALLATION, isInstallation } from '../../../../runtime/table/loop-marker.ts';
import type { Dispatch, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { payloads } from '../../../payloads/module.ts';
import type {
  HomeChannelOf,
  JobOutcome,
  RefusesDelivery,
  SpentBudget,
} from '../../runtime/explain/explain-services.ts';
import { lenient } from '../deliver/link-one.ts';

export function listFiles({ stat, readText }: Pick<GatewayFiles, 'stat' | 'readText'>): ListFiles {
  return {
    stat: (path) => {
      const found = stat(path);
      if (found === undefined) throw new Error(`${path} is missing`);
      return found;
    },
    read: readText,
  };
}

/**
 * Scripts run behind the walls of `gateway.sandbox`, as in the gateway. The code behind it is loaded only when a script is to run.
 * @param files absolute paths of the configuration, which no script may read
 */
export async function scriptRunner(
  context: CliContext,
  table: RouteTable,
  files: readonly string[],
): Promise<RunScript> {
  const { env, home, clock, modules } = context;
  const [{ createScriptRunner }, { runProcess }, { createConfinement }, { silentLog }] = await Promise.all([
    import('../../../../runtime/intake/script-runner.ts'),
    import('../../../../runtime/platform/process/run-process.ts'),
    import('../../../../runtime/service/confine.ts'),
    import('../../../../runtime/platform/log.ts'),
  ]);
  const { realPath, describe } = gatewayFiles;
  const { signal } = new AbortController();
  const start = (request: Parameters<typeof runProcess>[0]) => runProcess(request, { clock, home });
  const hidden = (): readonly string[] => hiddenFiles(context, table, files);
  const { confine } = createConfinement(
    modules.flatMap(({ runtime }) => runtime ?? []),
    { run: start, home, userHome: userHome(env), hidden, log: silentLog, sweep: false },
  );
  return createScriptRunner({ run: confine(table.gateway.sandbox ?? null), realPath, describe, env, home, signal });
}

/** @throws CliError when there is a store that cannot be read. */
export async function jobState(
  context: CliContext,
  table: RouteTable,
  profile: string,
  id: string,
): Promise<JobOutcome> {
  // Loaded on demand: few routes fire jobs, and it pulls in the store.
  const { useStore } = await import('../../../../cli/store/use-store.ts');
  const stored = await useStore(context, (store) => store.read({ kind: 'jobs' }));
  const job = listJobs(table, stored?.records ?? [], context.timezone).get(id);
  if (job === undefined || job.profile !== profile) return 'unknown_job';
  return isJobPaused(stored?.states[id] ?? NO_STATE, job.paused, context.clock.now()) ? 'paused' : 'accepted';
}

/** The id of this installation; a fixed one where there is no store yet. @throws CliError when there is a store that cannot be read. */
export async function storedInstallation(context: CliContext): Promise<string> {
  const { useStore } = await import('../../../../cli/store/use-store.ts');
  const [row] = (await useStore(context, (store) => store.read({ kind: 'guard_rows', of: 'installation' }))) ?? [];
  return decodeOr<string>(row?.body, isInstallation, EXAMPLE_INSTALLATION);
}

interface BudgetInput {
  readonly table: RouteTable;
  /** Of the table, or of a subscription. */
  readonly plan: RoutePlan;
  readonly dispatch: Dispatch;
}

/** The budgets that a run would count in, with what is spent of them. @throws CliError when there is a store that cannot be read. */
export async function storedBudgets(
  context: CliContext,
  { table, plan, dispatch }: BudgetInput,
): Promise<readonly SpentBudget[]> {
  const budgets = new Budgets(
    context.modules.flatMap(({ runtime }) => runtime ?? []),
    context.timezone,
  );
  await budgets.prepare(table);
  await budgets.subscribed([plan]);
  const { useStore } = await import('../../../../cli/store/use-store.ts');
  let { agent = null } = dispatch;
  if (dispatch.job !== null) {
    const records = (await useStore(context, (store) => store.read({ kind: 'jobs' })))?.records ?? [];
    await budgets.stored(records);
    agent = listJobs(table, records, context.timezone).get(dispatch.job)?.agent ?? null;
  }
  const now = context.clock.now();
  const found = agent === NO_AGENT ? [] : budgets.find(table, { ...dispatch, agent }, now);
  if (found.length === 0) return [];
  const rows = (await useStore(context, (store) => store.read({ kind: 'guard_rows', of: 'budget' }))) ?? [];
  const bodies = new Map(rows.map(({ key, body }) => [key, body]));
  return found.map((budget) => ({ budget, spent: spentAt(readBudget(bodies.get(budget.key)), budget, now) }));
}

/** The limit that a run would be beyond. @throws CliError when there is a store that cannot be read. */
export async function storedLimit(context: CliContext, limits: readonly RunLimit[]): Promise<OverLimit | null> {
  const { useStore } = await import('../../../../cli/store/use-store.ts');
  const bodies = new Map<string, string>();
  for (const of of new Set(limits.map(({ kind }) => kind))) {
    const rows = (await useStore(context, (store) => store.read({ kind: 'guard_rows', of }))) ?? [];
    for (const row of rows) bodies.set(guardKey(row), row.body);
  }
  return overLimit(limits, bodies, context.clock.now());
}

/** By the config alone, for tests of it. */
export function configuredJobState({ jobs }: RouteTable, profile: string, id: string): JobOutcome {
  const job = Object.hasOwn(jobs, id) ? jobs[id] : undefined;
  if (job === undefined || job.profile !== profile) return 'unknown_job';
  return job.paused ? 'paused' : 'accepted';
}

type Machine = Pick<CliContext, 'home' | 'env' | 'clock'>;

/** Why a gateway would not serve this route; null: it would. */
export function linkProblem(plan: RoutePlan, table: RouteTable, context: LinkContext): string | null {
  try {
    new RouteSlot(plan, table, context);
    return null;
  } catch (error) {
    if (error instanceof LinkError) return error.message;
    throw error;
  }
}

/** The chat that a target delivers to where a route names none; its reference, where that cannot be resolved here. */
export function homeChannels({ profiles }: RouteTable, secrets: SecretResolver): HomeChannelOf {
  return (profile, { target, extra }) => {
    const targets = profiles[profile]?.targets ?? {};
    const binding = Object.hasOwn(targets, target) ? targets[target] : undefined;
    if (binding === undefined || Object.hasOwn(extra, 'chat_id')) return null;
    const { home_channel: ref } = binding.credentials;
    return (ref === undefined ? binding.home_channel : lenient(secrets).resolve(ref, 'home_channel').trim()) || null;
  };
}

/** Credentials may be missing: an address is verified without them. */
export function deliveryRefusal(context: Machine, table: RouteTable, secrets: SecretResolver): RefusesDelivery {
  let drivers: Promise<RefusesDelivery> | null = null;
  return async (...asked) => {
    const [, { target }] = asked;
    // These refuse nothing, and need no driver.
    if (table.targets[target]?.driver === 'log' || table.targets[target]?.driver === 'local') return null;
    drivers ??= linkDrivers(context, table, secrets);
    return (await drivers)(...asked);
  };
}

/** Loaded only when a route delivers directly: it pulls in every driver. */
async function linkDrivers(context: Machine, table: RouteTable, secrets: SecretResolver): Promise<RefusesDelivery> {
  const [{ linkTargets }, { createDeliverer }, { createDeliveryContext }, { runProcess }, { silentLog }] =
    await Promise.all([
      import('../../../../runtime/deliver/link-targets.ts'),
      import('../../../../runtime/deliver/create-deliverer.ts'),
      import('../../../../runtime/deliver/delivery-context.ts'),
      import('../../../../runtime/platform/process/run-process.ts'),
      import('../../../../runtime/platform/log.ts'),
    ]);
  const { home, env, clock } = context;
  const run = (request: Parameters<typeof runProcess>[0]) => runProcess(request, { clock, home });
  const delivery = createDeliveryContext({ home, env, clock, log: silentLog, run });
  const { linked, problems } = linkTargets(table, lenient(secrets), delivery.context);
  await delivery.close();
  const deliverer = createDeliverer({ linked, context: delivery.context, mirror: async () => {} });
  return async (profile, asked, text) => {
    // Where a reference stands for the secret, it may not have the secret's form: what is sent then is not known.
    const isUnknown = problems.some((problem) => problem.profile === profile && problem.target === asked.target);
    if (isUnknown || isOpenHome(table, secrets, profile, asked)) return null;
    if (text === null) return deliverer.refusal(profile, asked);
    const message = { ...asked, profile, text, key: 'x', route: '', delivery_id: '', sent: 0, first_attempt_at: null };
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

/** Null: none of the routes has marked values. */
export const marksFor = (plans: readonly RoutePlan[]): Promise<Marks | null> =>
  loadMarks(payloads.runtime === null ? [] : [payloads.runtime], plans);
