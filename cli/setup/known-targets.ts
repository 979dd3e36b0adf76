/** The targets a person can choose from in the wizard, and what each needs to know: read from the catalog. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export interface KnownTarget {
  readonly name: string;
  readonly title: string;
  /** Those without which it cannot work. */
  readonly settings: readonly { readonly key: string; readonly help: string; readonly secret: boolean }[];
  /** All of its settings that are secrets. */
  readonly secrets: ReadonlySet<string>;
}

const SHIPPED = fileURLToPath(new URL('../../catalog/targets/', import.meta.url));
/** Nothing to set up. */
const BUILT_IN: ReadonlySet<string> = new Set(['log', 'local']);

interface TargetYaml {
  readonly title?: string;
  readonly settings?: Readonly<
    Record<string, { readonly secret?: boolean; readonly required?: boolean; readonly help?: string }>
  >;
}

/** Shipped targets, then those of the home, by name. Files that cannot be read are for `lint` to judge. */
export function knownTargets(home: string): KnownTarget[] {
  const files = [SHIPPED, join(home, 'catalog', 'targets')].flatMap(yamlFiles);
  const found = new Map(files.flatMap((path) => readTarget(path).map((target) => [target.name, target] as const)));
  return [...found.values()].filter(({ name }) => !BUILT_IN.has(name)).sort((a, b) => (a.title < b.title ? -1 : 1));
}

function yamlFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => join(folder, file));
  } catch {
    return [];
  }
}

function readTarget(path: string): KnownTarget[] {
  try {
    const name = (path.split('/').at(-1) ?? '').slice(0, -'.yaml'.length);
    const { title = name, settings = {} } = parse(readFileSync(path, 'utf8'), { logLevel: 'error' }) as TargetYaml;
    const entries = Object.entries(settings);
    return [
      {
        name,
        title,
        settings: entries
          .filter(([, { required }]) => required === true)
          .map(([key, { help, secret }]) => ({ key, help: help ?? key, secret: secret === true })),
        secrets: new Set(entries.flatMap(([key, { secret }]) => (secret === true ? [key] : []))),
      },
    ];
  } catch {
    return [];
  }
}
