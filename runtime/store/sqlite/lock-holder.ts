/** Finds the process that holds a lock of file-lock.ts, for messages. */
import { readFileSync, statSync } from 'node:fs';

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
