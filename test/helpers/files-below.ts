/** Files of a home whose programs may still be running: files that are deleted during the read are left out. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @returns null if `read` finds nothing any more */
function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Paths of the files below the folder. */
export function filesBelow(folder: string, at = ''): string[] {
  const entries = ifThere(() => readdirSync(join(folder, at), { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(at, entry.name);
    if (entry.isDirectory()) return filesBelow(folder, path);
    return entry.isFile() ? [path] : [];
  });
}

export const readIfThere = (path: string): Buffer | null => ifThere(() => readFileSync(path));
