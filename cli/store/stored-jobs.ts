/** The jobs made at run time, for commands that only read: a home without a store has none, and is left without one. */
import { existsSync } from 'node:fs';
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import { storePath } from '../../runtime/store/store-path.ts';
import type { CliContext } from '../base/context.ts';
import { StoreOutOfReach, useStore } from './use-store.ts';

/**
 * Takes no lock where the store is closed: commands that only read never wait for each other. Also on a disk that is full
 * or read-only: a gateway starts there, too.
 * @throws CliError when they cannot be read
 */
export async function readStoredJobs(context: CliContext): Promise<readonly JobRecord[]> {
  const path = storePath(context.home);
  // Loaded only where there is a file: opening a database is not free.
  const files = existsSync(path) ? await import('../../runtime/store/sqlite/open-store.ts') : null;
  const closed = files?.readClosedJobs(path) ?? null;
  if (closed !== null) return closed;
  try {
    const jobs = await useStore(context, (store) => store.read({ kind: 'jobs' }));
    return jobs?.records ?? [];
  } catch (error) {
    if (!(error instanceof StoreOutOfReach) || files === null) throw error;
    try {
      return files.readJobsUnopened(path);
    } catch {
      throw error;
    }
  }
}
