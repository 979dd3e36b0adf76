/** Reads only the store settings of a configuration, so that commands find the store even if a route is invalid. */
import type { StorePlan } from '../../schemas/generated/types.ts';
import { lowerStore } from '../lower/gateway.ts';
import { isPlainMap } from '../text/plain-map.ts';
import type { ConfigSearch } from './load-config.ts';
import { loadConfig } from './load-config.ts';
import { searchConfig } from './search-config.ts';
import { mergeFiles } from './source-tree.ts';

/** Returns null if the configuration cannot be read, or if its store settings are invalid. */
export function readStorePlan(search: ConfigSearch): StorePlan | null {
  const { configs, files } = search;
  if (configs.length === 0 && searchConfig(files, search).root === null) return { kind: 'sqlite' };
  const loaded = loadConfig(search);
  if (loaded.incomplete || loaded.files.length === 0) return null;
  const { gateway = {} } = mergeFiles(loaded.files).tree.value;
  if (!isPlainMap(gateway)) return null;
  const { store = 'sqlite' } = gateway;
  if (store === 'sqlite') return lowerStore(store);
  if (!isPlainMap(store)) return null;
  const { postgres, listen = true, schema = 'hookwright', key } = store;
  const isStore = typeof postgres === 'string' && typeof listen === 'boolean' && typeof schema === 'string';
  if (!isStore || (key !== undefined && typeof key !== 'string')) return null;
  return lowerStore({ postgres, listen, schema, ...(key === undefined ? {} : { key }) });
}
