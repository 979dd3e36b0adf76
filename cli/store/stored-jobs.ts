/** The jobs made at run time, for commands that only read: where nothing is stored there are none, and no store is made. */
import { existsSync } from 'node:fs';
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import { storePath } from '../../runtime/store/store-path.ts';
import type { CliContext } from '../base/context.ts';
import { printNote } from '../output/print.ts';
import { configuredStore, StoreOutOfReach, UnknownStore } from './configured-store.ts';
import { useStore } from './use-store.ts';

/**
 * Takes no lock where the store is closed: commands that only read never wait for each other. Also on a disk that is full
 * or read-only: a gateway starts there, too.
 * @param configs default: those of the command line
 * @throws StoreOutOfReach, UnknownStore; CliError when they cannot be read
 */
export async function readStoredJobs(context: CliContext, configs?: readonly string[]): Promise<readonly JobRecord[]> {
  const path = storePath(context.home);
  // Loaded only where there is a file: opening a database is not free.
  const files = existsSync(path) ? await import('../../runtime/store/sqlite/open-store.ts') : null;
  const isFile = files !== null && (await configuredStore(context, configs)).kind === 'sqlite';
  const closed = isFile ? files.readClosedJobs(path) : null;
  if (closed !== null) return closed;
  try {
    const jobs = await useStore(context, (store) => store.read({ kind: 'jobs' }), configs);
    return jobs?.records ?? [];
  } catch (error) {
    if (!(error instanceof StoreOutOfReach) || !isFile) throw error;
    try {
      return files.readJobsUnopened(path);
    } catch {
      throw error;
    }
  }
}

/** The same for a compile, which needs no database: it runs in CI as well, and before a gateway that waits for it. */
export async function readJobsToCompile(
  context: CliContext,
  configs: readonly string[] | undefined,
): Promise<readonly JobRecord[]> {
  try {
    return await readStoredJobs(context, configs);
  } catch (error) {
    if (error instanceof UnknownStore) return [];
    if (!(error instanceof StoreOutOfReach)) throw error;
    printNote(context, `jobs made at run time are not known to this compile: ${error.message}`);
    return [];
  }
}
