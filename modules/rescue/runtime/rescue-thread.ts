/** The entry of the store's threads, with what this module adds to them. */
import { serveStore } from '../../../runtime/store/sqlite/serve-store.ts';
import { sqliteRescue } from './rescue.ts';

serveStore(sqliteRescue);
