/** Paths of a home's store and of its lock. */
import { join } from 'node:path';

export const storePath = (home: string): string => join(home, 'state.db');

export const lockPath = (store: string): string => `${store}.lock`;
