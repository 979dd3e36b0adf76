/** Creates folders whose parents may be missing. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

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
