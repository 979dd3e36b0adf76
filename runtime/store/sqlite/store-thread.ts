/** The entry of the store's threads if no module replaces it (rescue.ts). */
import { serveStore } from './serve-store.ts';

await serveStore(null);
