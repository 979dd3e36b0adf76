/** The path of a home's kept requests. */
import { join } from 'node:path';

/** A separate file, whose loss loses no event. */
export const capturePath = (home: string): string => join(home, 'requests.db');
