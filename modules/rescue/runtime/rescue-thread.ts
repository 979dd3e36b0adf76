/** The entry of the store's threads, with the rescue of this module. */
import { serveStore } from '../../../runtime/store/sqlite/serve-store.ts';
import { sqliteRescue } from './rescue.ts';

await serveStore(sqliteRescue);
