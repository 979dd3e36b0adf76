/** Paths of a home's store and of its lock, and the process that holds a lock. Does not load the driver. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const storePath = (home: string): string => join(home, 'state.db');

export const lockPath = (store: string): string => `${store}.lock`;

/** The lock of the one server of a store, in addition to the lock that commands also take. */
export const servedPath = (store: string): string => `${store}.served.lock`;

/** A small file (sqlite/rescue.ts) that identifies the store of this home. */
export const notePath = (store: string): string => `${store}.id`;

/** A small file that identifies the log with which the store was last written. */
export const logMarkPath = (store: string): string => `${store}-wal.id`;

/** Whether this home has had a store. */
export const hasNote = (store: string): boolean => existsSync(notePath(store));

/**
 * True if this home has or had a store. A missing file is opened too, because opening it reports that it is missing.
 */
export const hasStore = (store: string): boolean => existsSync(store) || hasNote(store) || existsSync(`${store}-wal`);

/** A line of proc_locks(5): process, device (major:minor, hexadecimal), inode. */
const HELD = /POSIX +ADVISORY +WRITE (\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) /;

/** The id of the process that holds the lock at `path`; null when none does or the system does not report it. */
export function lockHolder(path: string): number | null {
  try {
    const { dev, ino } = statSync(path);
    const major = (dev >>> 8) & 0xfff;
    const minor = (dev & 0xff) | ((dev >>> 12) & 0xfff00);
    for (const line of readFileSync('/proc/locks', 'latin1').split('\n')) {
      const [, pid = '', ...file] = HELD.exec(line) ?? [];
      const [heldMajor, heldMinor] = file.map((number) => Number.parseInt(number, 16));
      if (heldMajor === major && heldMinor === minor && Number(file[2]) === ino) return Number(pid);
    }
  } catch {
    // Only Linux has /proc/locks.
  }
  return null;
}
