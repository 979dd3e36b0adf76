/** The jobs made at run time, for commands that only read: a home without a store has none, and is left without one. */
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import { storePath } from '../../runtime/store/store-path.ts';
import type { CliContext } from '../base/context.ts';
import { StoreOutOfReach, useStore } from './use-store.ts';

/** Also on a disk that is full or read-only: a gateway starts there, too. @throws CliError when they cannot be read */
export async function readStoredJobs(context: CliContext): Promise<readonly JobRecord[]> {
  try {
    const jobs = await useStore(context, (store) => store.read({ kind: 'jobs' }));
    return jobs?.records ?? [];
  } catch (error) {
    if (error instanceof StoreOutOfReach) return readUnopened(context, error);
    throw error;
  }
}

async function readUnopened(context: CliContext, error: StoreOutOfReach): Promise<readonly JobRecord[]> {
  const { readJobsUnopened } = await import('../../runtime/store/sqlite/open-store.ts');
  try {
    return readJobsUnopened(storePath(context.home));
  } catch {
    throw error;
  }
}
