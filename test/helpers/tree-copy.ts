/** A copy of the runtime, for a test that needs another version of it, or removes a package. */
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ending } from './at-end.ts';
import { ROOT } from './root.ts';
import { tempDir } from './temp-dir.ts';

/** The sources, or their compiled form in this run. */
const TREE = fileURLToPath(new URL('../../', import.meta.url));
/** The extension of its files: `.ts` or `.js`. */
export const ENDING = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** @param without a package that the copy cannot find @returns the folder of the copy */
export function copyRuntime(t: Ending, without?: string): string {
  const dir = tempDir(t);
  for (const folder of ['base', 'modules', 'runtime', 'schemas'])
    cpSync(join(TREE, folder), join(dir, folder), { recursive: true });
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
  mkdirSync(join(dir, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== without) symlinkSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name));
  }
  return dir;
}
