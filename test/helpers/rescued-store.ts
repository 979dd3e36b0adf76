/** The SQLite store as the program opens it, with the module `rescue` and what modules bring to its changes. */
import { limitsPart } from '../../modules/guard/runtime/run-limits.ts';
import { approvalsPart } from '../../modules/outputs/runtime/store-part.ts';
import { sqliteRescue } from '../../modules/rescue/runtime/rescue.ts';
import type { Store } from '../../runtime/store/contract.ts';
import type { ServerStoreOptions } from '../../runtime/store/sqlite/open-store.ts';
import * as stores from '../../runtime/store/sqlite/open-store.ts';

export const STORE_PARTS = [limitsPart, approvalsPart];

export const openOfflineStore = (path: string): Promise<Store> =>
  stores.openOfflineStore(path, { parts: STORE_PARTS, rescue: sqliteRescue });

export const openServerStore = (options: ServerStoreOptions): Promise<Store> =>
  stores.openServerStore({ parts: STORE_PARTS, ...options, rescue: sqliteRescue });
