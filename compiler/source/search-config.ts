/** Searches for the config if none is named, and for files that look like a config but are not read. */

import { dirname, join, resolve } from 'node:path';
import { HOW_TO_START } from '../text/plain-data.ts';
import type { Files } from './files.ts';
import { displayPath } from './files.ts';

const NAME = 'hookwright.yaml';

interface Folders {
  /** Absolute path. */
  readonly cwd: string;
  /** Absolute path of `<home_dir>`. */
  readonly home: string;
}

/** The searched paths in order: `./hookwright.yaml`, `<home_dir>/config.yaml`. */
export const usualConfigs = ({ cwd, home }: Folders): readonly [string, string] => [
  join(cwd, NAME),
  join(home, 'config.yaml'),
];

/** The path of the `.env` next to `./hookwright.yaml`; undefined if another config is in use. */
export function projectEnvPath(files: Files, folders: Folders, configs: readonly string[]): string | undefined {
  const [here] = usualConfigs(folders);
  const isUsed =
    configs.length === 0 ? files.stat(here) !== null : configs.some((path) => resolve(folders.cwd, path) === here);
  // The home's `.env` is read anyway.
  return isUsed && files.realpath(folders.cwd) !== files.realpath(folders.home) ? join(folders.cwd, '.env') : undefined;
}

/** Common names of configs that are not searched for. */
const MISNAMED: readonly string[] = ['hookwright.yml', '.hookwright.yaml', 'hookwright.yaml.txt', 'hookwright.json'];

interface ConfigSearchResult {
  /** Null if there is none. */
  readonly root: string | null;
  /** Absolute paths of files that look like a config but are not read. */
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
  // In a subfolder of a project, users may expect the project's config.
  const above = root === usual[1] ? configAbove(files, folders.cwd) : null;
  const near = above === null ? others : [...others, resolve(folders.cwd, above)];
  return { root, ignored: near.filter((path) => path !== root && exists(path)) };
}

/** Explains why no config was found, and what to do. */
export function explainMissing(files: Files, folders: Folders): { readonly message: string; readonly hint: string } {
  const { cwd } = folders;
  const names = usualConfigs(folders).map((path) => displayPath(path, cwd));
  const message = `there is no config file: neither ${names.join(' nor ')} exists`;
  const [misnamed] = searchConfig(files, folders).ignored.map((path) => displayPath(path, cwd));
  if (misnamed !== undefined)
    return { message, hint: `\`${misnamed}\` exists: rename it, or pass it: --config ${misnamed}` };
  const above = configAbove(files, cwd);
  if (above === null) return { message, hint: HOW_TO_START };
  return { message, hint: `\`${above}\` is a config: run the command in its folder, or pass it: --config ${above}` };
}

function configAbove(files: Files, cwd: string): string | null {
  let up = '..';
  for (let folder = dirname(cwd); ; folder = dirname(folder)) {
    if (files.stat(join(folder, NAME))?.kind === 'file') return `${up}/${NAME}`;
    if (folder === dirname(folder)) return null;
    up += '/..';
  }
}
