/** The file system as the gateway uses it: node:fs itself, handed in so that tests can stand in its place. */
import { readFileSync, statSync, watch } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { FileStat } from './table/file-version.ts';

/** Everything throws or rejects as node:fs does. */
export interface GatewayFiles {
  /** undefined for a missing file. */
  stat(path: string): FileStat | undefined;
  read(path: string): Promise<Buffer>;
  readText(path: string): string;
  /** Without symbolic links. */
  realPath(path: string): Promise<string>;
  isFile(path: string): Promise<boolean>;
  /** Calls back when the file at `path` may have changed; answers the way to stop. */
  watch(path: string, changed: () => void): () => void;
}

export const nodeFiles: GatewayFiles = {
  stat: (path) => statSync(path, { throwIfNoEntry: false }),
  read: (path) => readFile(path),
  readText: (path) => readFileSync(path, 'utf8'),
  realPath: (path) => realpath(path),
  isFile: async (path) => (await stat(path)).isFile(),
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
