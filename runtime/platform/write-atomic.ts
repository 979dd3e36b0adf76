/** Replaces a file atomically: readers find either the old text or the new one, also after a crash. */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isSystemError } from '../../base/system-error.ts';

/** Older temporary files, in ms, are left over from a killed writer. */
const ABANDONED_MS = 60 * 60 * 1000;

/**
 * Writes a temporary file in the same folder, syncs it, renames it, and syncs the folder. Of a symbolic link the target is
 * replaced. The new file has `mode`, whatever the umask and the mode of the old file.
 */
export function writeAtomic(path: string, text: string, mode: number): void {
  const target = followLink(path);
  const folder = dirname(target);
  mkdirSync(folder, { recursive: true });
  const temporary = join(folder, `.${basename(target)}.${process.pid}.tmp`);
  // Never into a file or through a link that somebody else has put there.
  rmSync(temporary, { force: true });
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    fchmodSync(file, mode);
    fsyncSync(file);
    sweep(folder, basename(target), fstatSync(file).mtimeMs);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, target);
  syncFolder(folder);
}

function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return path;
    throw error;
  }
}

/** Removes a file, if it is there, and syncs the folder. @throws the system's error */
export function removeSynced(path: string): void {
  if (!existsSync(path)) return;
  rmSync(path);
  syncFolder(dirname(path));
}

/** Without this a power loss could undo the change. File systems that cannot sync a folder are ignored. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  } finally {
    closeSync(handle);
  }
}

/** Removes temporary files that killed writers of the same file left behind. */
function sweep(folder: string, name: string, now: number): void {
  for (const file of readdirSync(folder)) {
    if (!file.startsWith(`.${name}.`) || !file.endsWith('.tmp')) continue;
    const path = join(folder, file);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
    if (now - mtimeMs > ABANDONED_MS) rmSync(path, { force: true });
  }
}

/** Creates a folder and its parents. @throws the system's error; Node.js itself reports ENOENT on a read-only disk */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { recursive: true, mode });
  } catch {
    let missing = path;
    while (!existsSync(dirname(missing))) missing = dirname(missing);
    mkdirSync(missing, { recursive: existsSync(missing), mode });
    mkdirSync(path, { recursive: true, mode });
  }
}
