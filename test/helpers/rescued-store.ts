/** The SQLite store as the program opens it, with the module `rescue`. */
import { sqliteRescue } from '../../modules/rescue/runtime/rescue.ts';
import type { Store } from '../../runtime/store/contract.ts';
import type { ServerStoreOptions } from '../../runtime/store/sqlite/open-store.ts';
import * as stores from '../../runtime/store/sqlite/open-store.ts';

export const openOfflineStore = (path: string, parts: Pick<ServerStoreOptions, 'counter'> = {}): Promise<Store> =>
  stores.openOfflineStore(path, { ...parts, rescue: sqliteRescue });

export const openServerStore = (options: ServerStoreOptions): Promise<Store> =>
  stores.openServerStore({ ...options, rescue: sqliteRescue });
