/** The jobs made at run time, for commands that only read: a home without a store has none, and is left without one. */
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import type { CliContext } from '../context.ts';
import { useStore } from './use-store.ts';

/** @throws CliError when there is a store that cannot be read. */
export async function readStoredJobs(context: CliContext): Promise<readonly JobRecord[]> {
  const jobs = await useStore(context, (store) => store.read({ kind: 'jobs' }));
  return jobs?.records ?? [];
}
