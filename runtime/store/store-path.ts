/** Where a home keeps its store. */
import { join } from 'node:path';

export const storePath = (home: string): string => join(home, 'state.db');
