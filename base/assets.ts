/** Finds the folders of data that are shipped beside the code. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Absolute path of `catalog/`, `schemas/` or `console/`: the closest one above this file, which the build puts at another depth. */
export function assetFolder(name: 'catalog' | 'schemas' | 'console'): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, name)) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, name);
}
