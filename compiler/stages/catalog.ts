/** Loads the catalog that a config is compiled against: the shipped entries, then those of the home folder and of the config. */
import { join } from 'node:path';
import type { Config, SourceFile, TargetFile } from '../../schemas/generated/types.ts';
import type { KnownToolsets } from '../config/agents.ts';
import { completeTarget } from '../config/target-entries.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import type { CatalogTarget } from '../lower/targets.ts';
import { lowerTargetFile } from '../lower/targets.ts';
import type { HomeDisk } from '../source/files.ts';
import type { Places, Report } from '../source/find-place.ts';
import type { CatalogEntry, ShippedCatalog } from '../source/load-catalog.ts';
import { loadCatalogFolder, underRealNames } from '../source/load-catalog.ts';

/** An entry, and where the user defined it; null for shipped entries. */
export interface CatalogItem<T> {
  readonly value: T;
  readonly written: { readonly tree: Places; readonly base: NodePath } | null;
}

export interface LoadedCatalog {
  readonly sources: ReadonlyMap<string, CatalogItem<SourceFile>>;
  readonly targets: ReadonlyMap<string, CatalogItem<CatalogTarget>>;
  readonly toolsets: KnownToolsets;
  readonly actingToolsets: readonly string[];
}

export interface CatalogInput extends HomeDisk {
  readonly catalog: ShippedCatalog;
}

/** Later entries replace earlier ones of the same name. */
export function loadCatalog(
  input: CatalogInput,
  root: { readonly config: Config; readonly tree: Places },
  report: Report,
): LoadedCatalog {
  const { files, cwd, home, catalog } = input;
  const folder = (kind: string): string => join(home, 'catalog', kind);
  const sources = loadCatalogFolder({ files, cwd, folder: folder('sources'), schema: 'source' });
  const targets = loadCatalogFolder({ files, cwd, folder: folder('targets'), schema: 'target' });
  report.add([...sources.findings, ...targets.findings]);
  const own = {
    source: new Map(underRealNames('source', sources.entries).map(userItem)),
    target: new Map(underRealNames('target', targets.entries).map(userTarget)),
  };
  const beside = new Map(Object.entries(root.config.targets ?? {}));
  const ofConfig = {
    source: underRealNames('source', configEntries(root.config.sources)),
    target: underRealNames('target', configEntries(root.config.targets)).map((entry) => ({
      ...entry,
      value: lowerTargetFile(entry.name, completeTarget(entry.value, beside)),
    })),
  };
  return {
    sources: overlay(catalog.sources, [
      ...own.source,
      ...configItems('source', ofConfig.source, { ...root, own: own.source, report }),
    ]),
    targets: overlay(catalog.targets, [
      ...own.target,
      ...configItems('target', ofConfig.target, { ...root, own: own.target, report }),
    ]),
    toolsets: catalog.toolsets,
    actingToolsets: catalog.actingToolsets,
  };
}

/**
 * User entries come last, even those that replace shipped ones: if two entries claim an alias, the user's is reported.
 * A user's entry that is named like an alias of a shipped one replaces this alias.
 */
function overlay<T extends { readonly aliases?: readonly string[] }>(
  shipped: Readonly<Record<string, T>>,
  own: readonly Named<T>[],
): ReadonlyMap<string, CatalogItem<T>> {
  const items = new Map(Object.entries(shipped).map(shippedItem));
  for (const [name] of own) items.delete(name);
  const names = new Set(own.map(([name]) => name));
  for (const [name, { value }] of items) {
    const { aliases = [] } = value;
    if (!aliases.some((alias) => names.has(alias))) continue;
    items.set(name, { value: { ...value, aliases: aliases.filter((alias) => !names.has(alias)) }, written: null });
  }
  return new Map([...items, ...own]);
}

type Named<T> = readonly [string, CatalogItem<T>];

const shippedItem = <T>([name, value]: readonly [string, T]): Named<T> => [name, { value, written: null }];

const userItem = <T>({ name, value, tree }: CatalogEntry<T>): Named<T> => [
  name,
  { value, written: { tree, base: [] } },
];

const userTarget = ({ name, value, tree }: CatalogEntry<TargetFile>): Named<CatalogTarget> =>
  userItem({ name, value: lowerTargetFile(name, value), tree });

interface ConfigEntry<T> {
  readonly name: string;
  readonly value: T;
  /** The name as written in the config. */
  readonly written: string;
}

const configEntries = <T>(entries: Readonly<Record<string, T>> = {}): readonly ConfigEntry<T>[] =>
  Object.entries(entries).map(([name, value]) => ({ name, value, written: name }));

/** What the config defines itself. An entry that the home's catalog also defines is reported as a duplicate. */
function configItems<T>(
  kind: 'source' | 'target',
  entries: readonly ConfigEntry<T>[],
  {
    tree,
    own,
    report,
  }: { readonly tree: Places; readonly own: ReadonlyMap<string, CatalogItem<T>>; readonly report: Report },
): readonly Named<T>[] {
  return entries.map(({ name, value, written }): Named<T> => {
    const base = [`${kind}s`, written];
    const other = own.get(name)?.written?.tree.place([]);
    if (other !== undefined) {
      const message = `${kind} \`${name}\` is defined in two files`;
      const related = [{ source: other.file.source, range: other.value, message: 'it is first defined here' }];
      const place = tree.place(base);
      const range = place.key ?? place.value;
      report.add([{ rule: 'duplicate-definition', source: place.file.source, range, message, related }]);
    }
    return [name, { value, written: { tree, base } }];
  });
}
