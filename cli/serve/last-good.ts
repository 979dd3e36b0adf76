/** The table that was served last: kept in the home, so that a restart does not depend on a configuration that is being edited. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { usualConfigs } from '../../compiler/source/search-config.ts';
import type { CliContext } from '../base/context.ts';

type ConfigFolders = Pick<CliContext, 'home' | 'cwd'>;

/** The copy for a configuration. Each has its own, so that no project gets the routes of another. @param root absolute path */
export const copyOf = (place: ConfigFolders, root: string): string =>
  join(place.home, 'served', `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.json`);

/** Absolute path of the table that was served last for this configuration; null if there is none. */
export function lastGood(place: ConfigFolders, root: string): string | null {
  // A missing configuration may have been at either usual path.
  const roots = nodeFiles.stat(root) === null && usualConfigs(place).includes(root) ? usualConfigs(place) : [root];
  return roots.map((each) => copyOf(place, each)).find((path) => existsSync(path)) ?? null;
}
