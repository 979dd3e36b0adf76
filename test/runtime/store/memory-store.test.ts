import { createMemoryStore } from '../../../runtime/store/memory-store.ts';
import { storeContract } from './store-contract.ts';

storeContract('memory store', () => createMemoryStore());
