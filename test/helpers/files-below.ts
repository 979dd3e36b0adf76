/** Files of a home whose programs may still be at work: what goes while it is read is left out. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @returns null where `read` finds nothing any more */
function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Paths below the folder, of its files alone. */
export function filesBelow(folder: string, at = ''): string[] {
  const entries = ifThere(() => readdirSync(join(folder, at), { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(at, entry.name);
    if (entry.isDirectory()) return filesBelow(folder, path);
    return entry.isFile() ? [path] : [];
  });
}

export const readIfThere = (path: string): Buffer | null => ifThere(() => readFileSync(path));
