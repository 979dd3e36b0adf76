/** The file operations of the gateway, injected so that tests can replace them. */
import { statSync, watch } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { readRegularFile, readRegularText } from '../../base/read-regular-file.ts';

/** Larger tables are refused, in bytes. */
const MAX_TABLE_BYTES = 512 * 1024 * 1024;

/** The fields of node:fs' Stats that change with a file. */
export interface FileStamp {
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly size: number;
  readonly ino: number;
}

/** Reads regular files only. All functions throw or reject as node:fs does. */
export interface GatewayFiles {
  /** Undefined for a missing file. */
  stat(path: string): FileStamp | undefined;
  read(path: string): Promise<Buffer>;
  readText(path: string): Promise<string>;
  /** Resolves symbolic links. */
  realPath(path: string): Promise<string>;
  describe(path: string): Promise<FoundFile>;
  /** Calls `changed` when the file at `path` may have changed; returns a function that stops. */
  watch(path: string, changed: () => void): () => void;
}

/** Properties that decide whether a script may run. */
export interface FoundFile {
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
    const found = await stat(path);
    return { isFile: found.isFile(), links: found.nlink };
  },
  watch(path, changed) {
    // Watches the folder, because a watch on the file ends when the file is replaced by a rename.
    const name = basename(path);
    const watcher = watch(dirname(path), { persistent: false }, (_event, file) => {
      if (file === null || file === name) changed();
    });
    // Removing the folder ends the watch; the check before routing still works.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  },
};
