/** The targets a person can choose from in the wizard, and what each needs to know: read from the catalog. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { assetFolder } from '../../../../base/assets.ts';
import { commonName } from '../../../../compiler/text/common-name.ts';

export interface KnownTarget {
  /** The usual name, for the configuration. */
  readonly name: string;
  /** Every name it may have in a config. */
  readonly names: readonly string[];
  readonly title: string;
  /** Ways to reach it, one of which must be set up; most targets have one. */
  readonly ways: readonly TargetWay[];
  /** All of its settings that are secrets. */
  readonly secrets: ReadonlySet<string>;
}

export interface TargetWay {
  readonly name: string;
  readonly title: string;
  /** The required settings. */
  readonly settings: readonly { readonly key: string; readonly help: string; readonly secret: boolean }[];
}

/** Nothing to set up. */
const BUILT_IN: ReadonlySet<string> = new Set(['log', 'local']);

interface SettingYaml {
  readonly secret?: boolean;
  readonly required?: boolean;
  readonly help?: string;
}

interface TargetYaml {
  readonly title?: string;
  readonly aliases?: readonly string[];
  readonly settings?: Readonly<Record<string, SettingYaml>>;
  readonly variants?: Readonly<Record<string, { readonly title?: string; readonly needs?: readonly string[] }>>;
}

/** Shipped targets, then those of the home, by name. Files that cannot be read are reported by `lint`. */
export function knownTargets(home: string): KnownTarget[] {
  const files = [join(assetFolder('catalog'), 'targets'), join(home, 'catalog', 'targets')].flatMap(yamlFiles);
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
    const file = parse(readFileSync(path, 'utf8'), { logLevel: 'error' }) as TargetYaml;
    const settings = Object.entries(file.settings ?? {});
    const secrets = new Set(settings.flatMap(([key, { secret }]) => (secret === true ? [key] : [])));
    const names = [...new Set([commonName(name, file), name, ...(file.aliases ?? [])])];
    return [{ name: commonName(name, file), names, title: file.title ?? name, secrets, ways: waysOf(file) }];
  } catch {
    return [];
  }
}

function waysOf({ settings = {}, variants }: TargetYaml): TargetWay[] {
  const required = Object.keys(settings).filter((key) => settings[key]?.required === true);
  const way = (name: string, title: string, keys: readonly string[]): TargetWay => ({
    name,
    title,
    settings: [...new Set([...keys, ...required])].map((key) => {
      const { help = key, secret = false } = settings[key] ?? {};
      return { key, help, secret };
    }),
  });
  const several = Object.entries(variants ?? {}).map(([name, { title = name, needs = [] }]) => way(name, title, needs));
  return several.length > 0 ? several : [way('', '', [])];
}
