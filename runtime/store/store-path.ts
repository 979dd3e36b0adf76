/** Where a home keeps its store, and the lock of the one process that has it. */
import { join } from 'node:path';

export const storePath = (home: string): string => join(home, 'state.db');

export const lockPath = (store: string): string => `${store}.lock`;
