/** The jobs of the store, for commands that only read: a home without a store has none, and is left without one. */
import { existsSync } from 'node:fs';
import type { JobRecord } from '../../runtime/store/job-mutations.ts';
import { storePath } from '../../runtime/store/store-path.ts';

/** @throws StoreRefused when there is a store that cannot be read. */
export async function readStoredJobs(home: string): Promise<readonly JobRecord[]> {
  const path = storePath(home);
  if (!existsSync(path)) return [];
  // Loaded only where there is something to read: opening a database is not free.
  const { openStoreReader } = await import('../../runtime/store/sqlite-store.ts');
  const store = openStoreReader(path);
  try {
    return store.jobs.list();
  } finally {
    store.close();
  }
}
