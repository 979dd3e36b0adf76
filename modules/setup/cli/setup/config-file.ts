/** Which configuration file `gateway setup` works on. */
import { resolve } from 'node:path';
import { readRegularTextSync } from '../../../../base/read-regular-file.ts';
import { isSystemError } from '../../../../base/system-error.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { UsageError } from '../../../../cli/base/errors.ts';
import { isGlob } from '../../../../compiler/globs/path-glob.ts';
import { nodeFiles } from '../../../../compiler/node/node-files.ts';
import { searchConfig, usualConfigs } from '../../../../compiler/source/search-config.ts';

/** The one named, else the one that would be found, else a new one in the home. @throws UsageError for several */
export function setupTarget({ cwd, home }: CliContext, configs: readonly string[] | undefined): string {
  const [named, ...others] = configs ?? [];
  if (others.length > 0 || (named !== undefined && isGlob(named))) {
    throw new UsageError('setup changes one file', 'name it: --config <path>');
  }
  if (named !== undefined) return resolve(cwd, named);
  return searchConfig(nodeFiles, { cwd, home }).root ?? usualConfigs({ cwd, home })[1];
}

/** Empty for a file that is not there. */
export function readIfThere(path: string): string {
  try {
    return readRegularTextSync(path);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return '';
    throw error;
  }
}
