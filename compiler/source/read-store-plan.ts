/** Reads only the store settings of a configuration, so that commands find the store even if a route is invalid. */
import { resolve } from 'node:path';
import type { StorePlan } from '../../schemas/generated/types.ts';
import { lowerStore } from '../lower/gateway.ts';
import { isPlainMap } from '../text/plain-data.ts';
import type { Files } from './files.ts';
import { readText } from './files.ts';
import type { ConfigSearch } from './load-config.ts';
import { expandGlob, loadConfig } from './load-config.ts';
import { searchConfig, usualConfigs } from './search-config.ts';
import { mergeFiles } from './source-tree.ts';

/** Returns null if the configuration cannot be read, or if its store settings are invalid. */
export function readStorePlan(search: ConfigSearch): StorePlan | null {
  const { configs, files } = search;
  if (configs.length === 0 && searchConfig(files, search).root === null) return { kind: 'sqlite' };
  if (pathsOf(search).every((path) => cannotAffectStore(files, path))) return { kind: 'sqlite' };
  const loaded = loadConfig(search);
  if (loaded.incomplete || loaded.files.length === 0) return null;
  const { gateway = {} } = mergeFiles(loaded.files).tree.value;
  if (!isPlainMap(gateway)) return null;
  const { store = 'sqlite' } = gateway;
  if (store === 'sqlite') return lowerStore(store);
  if (!isPlainMap(store)) return null;
  const { postgres, listen = true, schema = 'hookwright', key } = store;
  const isStore = typeof postgres === 'string' && typeof listen === 'boolean' && typeof schema === 'string';
  if (!isStore || !isOptionalText(key)) return null;
  return lowerStore({ postgres, listen, schema, ...(key === undefined ? {} : { key }) });
}

const isOptionalText = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string';

function pathsOf({ files, configs, ...folders }: ConfigSearch): readonly string[] {
  if (configs.length === 0) return [searchConfig(files, folders).root ?? usualConfigs(folders)[0]];
  return configs.flatMap((pattern) => {
    const paths = expandGlob(files, folders.cwd, pattern);
    return paths instanceof Error || paths.length === 0 ? [resolve(folders.cwd, pattern)] : paths;
  });
}

/** Matches a file that may contain a store or includes; escapes can spell a key differently. */
const MAY_NAME_STORE = /\b(?:store|include)\b|\\(?:[xuU]|\r?\n)/;

/** Whether the file certainly does not affect the store, so that a compile need not parse it twice. */
function cannotAffectStore(files: Files, path: string): boolean {
  const read = readText(files, path);
  return read.ok && !MAY_NAME_STORE.test(read.text);
}
