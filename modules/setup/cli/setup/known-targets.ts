/** The targets a person can choose from in the wizard, and what each needs to know: read from the catalog. */
import { join } from 'node:path';
import { assetFolder } from '../../../../base/assets.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { readConfig } from '../../../../cli/compile/compile-files.ts';
import { nodeFiles } from '../../../../compiler/node/node-files.ts';
import { loadCatalogFolder } from '../../../../compiler/source/load-catalog.ts';
import { commonName } from '../../../../compiler/text/common-name.ts';
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import { target as isTarget } from '../../../../schemas/built/validators.ts';
import type { TargetFile } from '../../../../schemas/generated/types.ts';

export interface KnownTarget {
  /** The usual name, for the configuration. */
  readonly name: string;
  /** Every name it may have in a config. */
  readonly names: readonly string[];
  readonly title: string;
  /** It sends to chats, of which one may be the usual one. */
  readonly hasChats: boolean;
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

/** Shipped targets, then those of the home and of the configuration, by title. What cannot be read is reported by `lint`. */
export function knownTargets(context: CliContext, config: string): KnownTarget[] {
  const { cwd, home } = context;
  const folders = [join(assetFolder('catalog'), 'targets'), join(home, 'catalog', 'targets')];
  const found = folders
    .flatMap((folder) => loadCatalogFolder({ files: nodeFiles, cwd, folder, schema: 'target' }).entries)
    // One entry sets up the others of its service.
    .filter(({ value }) => value.like === undefined)
    .map(({ name, value }) => knownTarget(name, value));
  const written = readConfig(context, [config]).tree?.value.targets;
  const own = Object.entries(isPlainMap(written) ? written : {}).flatMap(([name, value]) =>
    isTarget(value) ? [knownTarget(name, value as TargetFile)] : [],
  );
  const byName = new Map([...found, ...own].map((target) => [target.name, target]));
  return [...byName.values()].filter(({ name }) => !BUILT_IN.has(name)).sort((a, b) => (a.title < b.title ? -1 : 1));
}

function knownTarget(name: string, file: TargetFile): KnownTarget {
  const { title, aliases = [], settings = {}, variants = {} } = file;
  const keysOf = (flag: 'required' | 'secret'): string[] =>
    Object.keys(settings).filter((key) => settings[key]?.[flag] === true);
  const way = (id: string, label: string, keys: readonly string[]): TargetWay => ({
    name: id,
    title: label,
    settings: [...new Set([...keys, ...keysOf('required')])].map((key) => {
      const { help = key, secret = false } = settings[key] ?? {};
      return { key, help, secret };
    }),
  });
  const declared = Object.entries(variants).map(([id, { title: label = id, needs = [] }]) => way(id, label, needs));
  // A program with a login of its own needs no settings.
  const ways =
    file.driver === 'forgea_comment' ? [way('', 'Login of `gh` on this machine', []), ...declared] : declared;
  const usual = commonName(name, file);
  return {
    name: usual,
    names: [...new Set([usual, name, ...aliases])],
    title,
    hasChats: /chat_id|\bmatch\./.test(JSON.stringify(file)),
    ways: ways.length > 0 ? ways : [way('', '', [])],
    secrets: new Set(keysOf('secret')),
  };
}
