/** Where the config is looked for when none is named, and what lies near it and is not read. */

import { dirname, join, resolve } from 'node:path';
import { HOW_TO_START } from '../text/how-to-start.ts';
import { displayPath } from './display-path.ts';
import type { Files } from './files.ts';

const NAME = 'hookwright.yaml';

interface Folders {
  /** Absolute. */
  readonly cwd: string;
  /** `<home_dir>`, absolute. */
  readonly home: string;
}

/** The first that exists is the config: `./hookwright.yaml`, else `<home_dir>/config.yaml`. */
export const usualConfigs = ({ cwd, home }: Folders): readonly [string, string] => [
  join(cwd, NAME),
  join(home, 'config.yaml'),
];

/** The `.env` that belongs to the config in use: the one beside `./hookwright.yaml`. undefined: another config is in use. */
export function projectEnvPath(files: Files, folders: Folders, configs: readonly string[]): string | undefined {
  const [here] = usualConfigs(folders);
  const isUsed =
    configs.length === 0 ? files.stat(here) !== null : configs.some((path) => resolve(folders.cwd, path) === here);
  // In the home it is the one that is read anyway.
  return isUsed && files.realpath(folders.cwd) !== files.realpath(folders.home) ? join(folders.cwd, '.env') : undefined;
}

/** Names that people give a config, and that are not looked for. */
const MISNAMED: readonly string[] = ['hookwright.yml', '.hookwright.yaml', 'hookwright.yaml.txt', 'hookwright.json'];

export interface ConfigSearchResult {
  /** null: there is none. */
  readonly root: string | null;
  /** Absolute paths of files that look like a config and are not read. */
  readonly ignored: readonly string[];
}

export function searchConfig(files: Files, folders: Folders): ConfigSearchResult {
  const usual = usualConfigs(folders);
  const exists = (path: string): boolean => files.stat(path) !== null;
  const root = usual.find(exists) ?? null;
  const others = [
    ...usual.slice(1),
    ...MISNAMED.map((name) => join(folders.cwd, name)),
    join(folders.home, 'config.yml'),
  ];
  // Whoever stands in a folder of a project may expect the config of the project.
  const above = root === usual[1] ? configAbove(files, folders.cwd) : null;
  const near = above === null ? others : [...others, resolve(folders.cwd, above)];
  return { root, ignored: near.filter((path) => path !== root && exists(path)) };
}

/** Why there is no config, and what to do. */
export function explainMissing(files: Files, folders: Folders): { readonly message: string; readonly hint: string } {
  const { cwd } = folders;
  const names = usualConfigs(folders).map((path) => displayPath(path, cwd));
  const message = `there is no config file: neither ${names.join(' nor ')} exists`;
  const [misnamed] = searchConfig(files, folders).ignored.map((path) => displayPath(path, cwd));
  if (misnamed !== undefined)
    return { message, hint: `\`${misnamed}\` is here: rename it, or name it: --config ${misnamed}` };
  const above = configAbove(files, cwd);
  if (above === null) return { message, hint: HOW_TO_START };
  return { message, hint: `\`${above}\` is a config: run this in its folder, or name it: --config ${above}` };
}

function configAbove(files: Files, cwd: string): string | null {
  let up = '..';
  for (let folder = dirname(cwd); ; folder = dirname(folder)) {
    if (files.stat(join(folder, NAME))?.kind === 'file') return `${up}/${NAME}`;
    if (folder === dirname(folder)) return null;
    up += '/..';
  }
}
