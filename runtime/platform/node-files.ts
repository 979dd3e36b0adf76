/** The file system as the gateway uses it, handed in so that tests can stand in its place. */
import { statSync, watch } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { readRegularFile, readRegularText } from '../../base/read-regular-file.ts';

/** Larger tables are refused, in bytes. */
const MAX_TABLE_BYTES = 512 * 1024 * 1024;

/** The parts of node:fs' Stats that change with a file. */
export interface FileStamp {
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly size: number;
  readonly ino: number;
}

/** What is read are regular files only. Everything throws or rejects as node:fs does. */
export interface GatewayFiles {
  /** undefined for a missing file. */
  stat(path: string): FileStamp | undefined;
  read(path: string): Promise<Buffer>;
  readText(path: string): Promise<string>;
  /** Without symbolic links. */
  realPath(path: string): Promise<string>;
  describe(path: string): Promise<FoundFile>;
  /** Calls back when the file at `path` may have changed; returns a function that stops it. */
  watch(path: string, changed: () => void): () => void;
}

/** What decides whether a script may run. */
export interface FoundFile {
  /** A regular file. */
  readonly isFile: boolean;
  /** How many names it has. */
  readonly links: number;
}

export const gatewayFiles: GatewayFiles = {
  stat: (path) => statSync(path, { throwIfNoEntry: false }),
  read: (path) => readRegularFile(path, MAX_TABLE_BYTES),
  readText: (path) => readRegularText(path),
  realPath: (path) => realpath(path),
  describe: async (path) => {
    const found = await stat(path);
    return { isFile: found.isFile(), links: found.nlink };
  },
  watch(path, changed) {
    // The folder is watched, because a file that is replaced by a rename takes its watch with it.
    const name = basename(path);
    const watcher = watch(dirname(path), { persistent: false }, (_event, file) => {
      if (file === null || file === name) changed();
    });
    // A folder that is removed ends the watch; the look before routing goes on.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  },
};
