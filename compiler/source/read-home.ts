/** Reads only `home` of a configuration, before anything else: it says where commands find the gateway, its store and its secrets. */
import { dirname, join, resolve } from 'node:path';
import { isPlainMap } from '../text/plain-data.ts';
import type { Files } from './files.ts';
import { readText } from './files.ts';
import { expandGlob } from './load-config.ts';
import { parseYaml } from './parse-yaml.ts';

interface HomeSearch {
  readonly files: Files;
  readonly cwd: string;
  /** What `~` is. */
  readonly userHome: string;
  /** Values of `--config`, or the path of `./hookwright.yaml`. */
  readonly configs: readonly string[];
}

/** The line of a file that is being edited and is not YAML. */
const LINE = /^(?:home|"home"|'home')\s*:[ \t]+(["']?)([^\s"'#].*?)\1[ \t]*(?:#.*)?$/m;

/** The absolute path that the first file with `home` names; null if there is none. */
export function readHome({ files, cwd, userHome, configs }: HomeSearch): string | null {
  for (const pattern of configs) {
    const paths = expandGlob(files, cwd, pattern);
    for (const path of paths instanceof Error ? [] : paths) {
      const read = readText(files, path);
      const home = read.ok && /\bhome\b/.test(read.text) ? homeIn(read.text, path) : null;
      if (home === null) continue;
      return home.startsWith('~/') ? join(userHome, home.slice(2)) : resolve(dirname(resolve(cwd, path)), home);
    }
  }
  return null;
}

function homeIn(text: string, path: string): string | null {
  const { file } = parseYaml({ path, name: path, text });
  if (file === null) return LINE.exec(text)?.[2] ?? null;
  const home = isPlainMap(file.value) ? file.value.home : undefined;
  return typeof home === 'string' && home !== '' ? home : null;
}
