/** Whether a job is paused, by the configuration or at run time. */

import type { CliContext } from '../../../../cli/base/context.ts';
import { listJobs } from '../../../../runtime/dispatch/scheduler/job.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import type { JobOutcome } from '../../runtime/explain/dry-dispatcher.ts';

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
