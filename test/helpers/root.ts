/** The repository, for tests that run its commands or write to it: the tests themselves run in a compiled copy. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const findRoot = (folder: string): string =>
  existsSync(join(folder, 'package-lock.json')) ? folder : findRoot(dirname(folder));

export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));
