import { createTables } from '../../helpers/memory-store/tables.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';
import { storeConformance } from './conformance/conformance.ts';

storeConformance({
  name: 'store in memory',
  create() {
    const tables = createTables();
    return { open: async () => createMemoryStore(tables), kill: async () => {} };
  },
});
