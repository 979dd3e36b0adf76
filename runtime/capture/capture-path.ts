/** Where a home keeps requests. */
import { join } from 'node:path';

/** A file of its own: losing it loses no event. */
export const capturePath = (home: string): string => join(home, 'requests.db');
