/**
 * The file operations of the gateway: reads and writes that tests can replace, atomic replacement, removal of folders that
 * programs have filled, and descriptions of disk errors.
 */

import { randomUUID } from 'node:crypto';
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
  watch,
  writeFileSync,
} from 'node:fs';
import { chmod, lstat, mkdir, opendir, realpath, rename, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, isSystemError } from '../../base/errors.ts';
import { readRegularFile, readRegularText } from '../../base/files.ts';
import { systemClock } from './clock.ts';
import type { Logger } from './log.ts';

/** Maximum size of a table, in bytes. */
const MAX_TABLE_BYTES = 512 * 1024 * 1024;

/** The fields of node:fs Stats that change with a file. */
export interface FileStamp {
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly size: number;
  readonly ino: number;
}

/** Reads regular files only. All functions throw or reject as node:fs does. */
export interface GatewayFiles {
  /** Returns undefined for a missing file. */
  stat(path: string): FileStamp | undefined;
  read(path: string): Promise<Buffer>;
  readText(path: string): Promise<string>;
  /** Resolves symbolic links. */
  realPath(path: string): Promise<string>;
  describe(path: string): Promise<ScriptFile>;
  /** Calls `changed` when the file at `path` may have changed; returns a function that stops watching. */
  watch(path: string, changed: () => void): () => void;
}

/** Properties that decide whether a script may run. */
export interface ScriptFile {
  /** A regular file. */
  readonly isFile: boolean;
  /** Number of hard links. */
  readonly links: number;
}

export const gatewayFiles: GatewayFiles = {
  stat: (path) => statSync(path, { throwIfNoEntry: false }),
  read: (path) => readRegularFile(path, MAX_TABLE_BYTES),
  readText: (path) => readRegularText(path),
  realPath: (path) => realpath(path),
  describe: async (path) => {
    const stats = await stat(path);
    return { isFile: stats.isFile(), links: stats.nlink };
  },
  watch(path, changed) {
    // Watches the folder, because a watch on the file ends when a rename replaces the file.
    const name = basename(path);
    const watcher = watch(dirname(path), { persistent: false }, (_event, file) => {
      if (file === null || file === name) changed();
    });
    // If the folder is removed, the watch ends; the check before routing still works.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  },
};

/** Age in ms above which a temporary file was left by a killed writer. */
const ABANDONED_MS = 60 * 60 * 1000;

/**
 * Writes a temporary file in the same folder, syncs it, renames it, and syncs the folder. If `path` is a symbolic link, its
 * target is replaced. The new file has `mode`, whatever the umask and the mode of the old file are.
 */
export function writeAtomic(path: string, text: string, mode: number): void {
  const target = followLink(path);
  const folder = dirname(target);
  mkdirSync(folder, { recursive: true });
  const temporary = join(folder, `.${basename(target)}.${process.pid}.tmp`);
  // Never writes into a file or through a link that another user created there.
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

/** Removes a file if it exists, and syncs the folder. @throws the system's error */
export function removeSynced(path: string): void {
  if (!existsSync(path)) return;
  rmSync(path);
  syncFolder(dirname(path));
}

/** Without this, a power loss could undo the change. Ignores file systems that cannot sync a folder. */
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

/** Removes temporary files that killed writers of the same file left. */
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

/**
 * Removes folders that programs have filled, whatever they contain: huge or deep trees, folders without permissions, names that
 * are not UTF-8, links, and files that a process still writes.
 *
 * A folder is first moved into `removed` beside it, which is one step. There it is removed one entry at a time, so that
 * requests can be served in between. Files and links are unlinked, never followed; a subfolder is moved to `removed` itself. So
 * no path grows, nothing is recursive, and `removed` lists the remaining work, also after a restart.
 */

/** Maximum number of passes over a folder that a process still writes to. */
const MAX_PASSES = 20;
/** Maximum number of entries in a pass after the first one, for file systems that do not list new entries. */
const MAX_LATER_ENTRIES = 1000;
/** After this many entries that cannot be removed, the rest is left for the next start. */
const MAX_STUCK = 100;

/** Removes folders one after another, in the background. */
export class TreeRemover {
  private readonly depot: string;
  private readonly log: Logger;
  private readonly stuck = new Set<string>();
  private emptying: Promise<void> | null = null;
  private isClosed = false;

  /** @param depot absolute path of the folder `removed`, on the same file system as the folders */
  constructor(depot: string, log: Logger) {
    this.depot = depot;
    this.log = log;
  }

  /** Moves the folder into the depot and removes it in the background. Rejects like node:fs if it cannot be moved. */
  async remove(path: string | Buffer): Promise<void> {
    await mkdir(this.depot, { recursive: true, mode: 0o700 });
    await this.take(path);
    this.resume();
  }

  /** Removes the contents of the depot in the background. */
  resume(): void {
    this.emptying ??= this.empty()
      .catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') this.log.warn({ err: error }, 'could not remove leftover run directories');
      })
      .finally(() => {
        this.emptying = null;
      });
  }

  /** Resolves when the depot contains nothing removable. */
  async idle(): Promise<void> {
    await this.emptying;
  }

  /** Stops after the current entry, then resolves. The rest is removed after the next start. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.emptying;
  }

  private async take(path: string | Buffer): Promise<void> {
    const place = join(this.depot, randomUUID());
    try {
      await rename(path, place);
    } catch (error) {
      if (codeOf(error) !== 'EACCES') throw error;
      // A folder must be writable to be moved into another one.
      await chmod(path, 0o700);
      await rename(path, place);
    }
  }

  private async empty(): Promise<void> {
    const before = this.stuck.size;
    let last: unknown = null;
    let isDone = false;
    while (!isDone && !this.isClosed) {
      isDone = true;
      for await (const { name } of await opendir(this.depot)) {
        if (this.isClosed || this.stuck.size - before >= MAX_STUCK) break;
        if (this.stuck.has(name)) continue;
        isDone = false;
        await this.takeApart(join(this.depot, name)).catch((error: unknown) => {
          last = error;
          this.stuck.add(name);
        });
      }
    }
    const left = this.stuck.size - before;
    if (left > 0) this.log.warn({ err: last, folder: this.depot, left }, 'could not remove leftover files of a run');
  }

  /** @param path in the depot, so that no program of a run can replace it */
  private async takeApart(path: string): Promise<void> {
    if (!(await lstat(path)).isDirectory()) return unlink(path);
    await chmod(path, 0o700);
    for (let pass = 1; ; pass++) {
      const began = systemClock.now();
      let taken = 0;
      for await (const { name } of await opendir(path, { encoding: 'buffer' as BufferEncoding })) {
        if (this.isClosed) return;
        const changedAt = await this.takeEntry(Buffer.concat([Buffer.from(`${path}/`), name as unknown as Buffer]));
        // A process that adds entries faster than they are removed would make the pass endless.
        if (changedAt > began || (pass > 1 && ++taken >= MAX_LATER_ENTRIES)) break;
      }
      try {
        return await rmdir(path);
      } catch (error) {
        if (pass === MAX_PASSES || !NOT_EMPTY.has(codeOf(error) ?? '')) throw error;
      }
    }
  }

  /** @returns the time of its last change, in Unix ms; 0 if it no longer exists */
  private async takeEntry(path: Buffer): Promise<number> {
    try {
      const entry = await lstat(path);
      await (entry.isDirectory() ? this.take(path) : unlink(path));
      return entry.ctimeMs;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      return 0;
    }
  }
}

/** Error codes of rmdir for a folder that is not empty. */
const NOT_EMPTY: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST']);

/** Describes a disk error for users, from the code of the system's or SQLite's error. */

const CAUSES: readonly (readonly [codes: RegExp, cause: string])[] = [
  [/^(?:ENOSPC|EDQUOT|SQLITE_(?:FULL|IOERR_SHMSIZE))/, 'the disk is full'],
  [/^(?:EROFS|SQLITE_READONLY)/, 'the file system is read-only'],
  [/^(?:EACCES|EPERM)/, 'this user may not write there'],
];

/** Returns the cause in words; for any other error its message. */
export function describeDiskError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error) ?? '';
  return CAUSES.find(([codes]) => codes.test(code))?.[1] ?? error.message;
}
