/** The entry of the store's threads where no module adds to them (rescue.ts). */
import { serveStore } from './serve-store.ts';

serveStore(null);
