/**
 * What explanations take from this machine, as the gateway does: lists, scripts, jobs, the drivers of targets, marks. The code
 * behind each is loaded when it is needed.
 */

import type { CliContext } from '../../../../cli/base/context.ts';
import { listJobs } from '../../../../runtime/dispatch/scheduler/job.ts';
import type { RunScript } from '../../../../runtime/intake/script-runner.ts';
import { loadMarks } from '../../../../runtime/module.ts';
import type { GatewayFiles } from '../../../../runtime/platform/node-files.ts';
import { gatewayFiles } from '../../../../runtime/platform/node-files.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import type { ListFiles } from '../../../../runtime/table/in-file-set.ts';
import type { Marks } from '../../../../runtime/table/link-template.ts';
import type { RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { payloads } from '../../../payloads/module.ts';
import type { JobOutcome, RefusesDelivery } from '../../runtime/explain/explain-services.ts';

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

/** The code behind it is loaded only when a script is to run. */
export async function scriptRunner({
  env,
  home,
  clock,
}: Pick<CliContext, 'env' | 'home' | 'clock'>): Promise<RunScript> {
  const [{ createScriptRunner }, { runProcess }] = await Promise.all([
    import('../../../../runtime/intake/script-runner.ts'),
    import('../../../../runtime/platform/process/run-process.ts'),
  ]);
  const { realPath, describe } = gatewayFiles;
  const { signal } = new AbortController();
  return createScriptRunner({ run: (request) => runProcess(request, clock), realPath, describe, env, home, signal });
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
  return (stored?.states[id]?.paused ?? job.paused) ? 'paused' : 'accepted';
}

/** By the config alone, for tests of it. */
export function configuredJobState({ jobs }: RouteTable, profile: string, id: string): JobOutcome {
  const job = Object.hasOwn(jobs, id) ? jobs[id] : undefined;
  if (job === undefined || job.profile !== profile) return 'unknown_job';
  return job.paused ? 'paused' : 'accepted';
}

type Machine = Pick<CliContext, 'home' | 'env' | 'clock'>;

/** Credentials may be missing: an address is verified without them. */
export function deliveryRefusal(context: Machine, table: RouteTable, secrets: SecretResolver): RefusesDelivery {
  let drivers: Promise<RefusesDelivery> | null = null;
  return async (profile, delivery) => {
    drivers ??= linkDrivers(context, table, secrets);
    return (await drivers)(profile, delivery);
  };
}

/** Loaded only when a route delivers directly: it pulls in every driver. */
async function linkDrivers(context: Machine, table: RouteTable, secrets: SecretResolver): Promise<RefusesDelivery> {
  const [{ linkTargets }, { createDeliverer }, { createDeliveryContext }, { lenient }, { runProcess }, { silentLog }] =
    await Promise.all([
      import('../../../../runtime/deliver/link-targets.ts'),
      import('../../../../runtime/deliver/create-deliverer.ts'),
      import('../../../../runtime/deliver/delivery-context.ts'),
      import('../../../../cli/deliver/link-one.ts'),
      import('../../../../runtime/platform/process/run-process.ts'),
      import('../../../../runtime/platform/log.ts'),
    ]);
  const { home, env, clock } = context;
  const run = (request: Parameters<typeof runProcess>[0]): ReturnType<typeof runProcess> => runProcess(request, clock);
  const delivery = createDeliveryContext({ home, env, clock, log: silentLog, run });
  const { linked } = linkTargets(table, lenient(secrets), delivery.context);
  await delivery.close();
  const deliverer = createDeliverer({ linked, context: delivery.context, mirror: async () => {} });
  return (profile, asked) => deliverer.refusal(profile, asked);
}

/** Null: none of the routes has marked values. */
export const marksFor = (plans: readonly RoutePlan[]): Promise<Marks | null> =>
  loadMarks(payloads.runtime === null ? [] : [payloads.runtime], plans);
