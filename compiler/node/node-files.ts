/** The compiler's interface to the real file system. */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { MAX_FILE_BYTES, readRegularFileSync } from '../../base/files.ts';
import type { Files } from '../source/files.ts';

/** Returns null if the path does not exist or is not accessible. */
function orNull<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

export const nodeFiles: Files = {
  read: (path, isAllowed) => readRegularFileSync(path, MAX_FILE_BYTES, isAllowed),
  stat: (path) => {
    const stat = orNull(() => statSync(path));
    if (stat === null) return null;
    const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other';
    return { kind, size: stat.size, mode: stat.mode & 0o777, links: stat.nlink };
  },
  list: (directory) => orNull(() => readdirSync(directory)) ?? [],
  realpath: (path) => orNull(() => realpathSync(path)),
};
