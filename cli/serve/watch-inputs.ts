/** Watches the files that a compile depends on, including those that it did not find. */
import type { FSWatcher } from 'node:fs';
import { statSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Calls `changed` when one of the paths may have changed. Folders are watched, never files: a file that is replaced by a
 * rename takes its watch with it. What else happens in those folders is ignored.
 * @returns the way to stop
 */
export function watchInputs(paths: readonly string[], changed: () => void): () => void {
  const watchers: FSWatcher[] = [];
  for (const [folder, inputs] of byFolder(paths)) {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || concerns(inputs, join(folder, name))) changed();
      });
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // A folder that cannot be watched: `gateway reload` applies its changes.
    }
  }
  return () => {
    for (const watcher of watchers) watcher.close();
  };
}

/** The inputs by the closest folder that exists; a folder that was listed is an input of itself. */
function byFolder(paths: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  const add = (folder: string, path: string): void => {
    const inputs = folders.get(folder) ?? new Set();
    folders.set(folder, inputs.add(path));
  };
  for (const path of paths) {
    if (isFolder(path)) add(path, path);
    let folder = dirname(path);
    while (!isFolder(folder) && dirname(folder) !== folder) folder = dirname(folder);
    add(folder, path);
  }
  return folders;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Files that writers keep beside a file while they write it. */
const PASSING = /(^\.|~$|\.(tmp|swp)$)/;

function concerns(inputs: ReadonlySet<string>, path: string): boolean {
  if (inputs.has(path)) return true;
  const folder = dirname(path);
  if (inputs.has(folder)) return !PASSING.test(path.slice(folder.length + 1));
  for (const input of inputs) if (input.startsWith(`${path}/`)) return true;
  return false;
}
