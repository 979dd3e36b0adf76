/** Makes a folder with those above it. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** @throws the system's error; Node.js alone says ENOENT where a disk is read-only */
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
