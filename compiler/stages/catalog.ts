/** Loads the catalog that a config is compiled against: the shipped entries, then those of the home folder and of the config. */
import { join } from 'node:path';
import type { BlueprintPlan, Config, SourceFile } from '../../schemas/generated/types.ts';
import type { KnownToolsets } from '../config/toolsets.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import type { CatalogTarget } from '../lower/targets.ts';
import { lowerTargetFile } from '../lower/targets.ts';
import type { Places } from '../source/file-tree.ts';
import type { HomeDisk } from '../source/files.ts';
import { loadBlueprints } from '../source/load-blueprints.ts';
import type { CatalogEntry } from '../source/load-catalog.ts';
import { loadCatalogFolder } from '../source/load-catalog.ts';
import type { Report } from '../source/report.ts';
import type { ShippedCatalog } from '../source/shipped-catalog.ts';

/** An entry, and where the user defined it; null for shipped entries. */
export interface CatalogItem<T> {
  readonly value: T;
  readonly written: { readonly tree: Places; readonly base: NodePath } | null;
}

export interface LoadedCatalog {
  readonly sources: ReadonlyMap<string, CatalogItem<SourceFile>>;
  readonly targets: ReadonlyMap<string, CatalogItem<CatalogTarget>>;
  readonly blueprints: ReadonlyMap<string, BlueprintPlan>;
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
  const blueprints = loadBlueprints({ files, cwd, folders: [folder('blueprints')] });
  report.add([...sources.findings, ...targets.findings, ...blueprints.findings]);
  const own = new Map(sources.entries.map(userItem));
  return {
    sources: overlay(catalog.sources, [...own, ...configSources(root, own, report)]),
    targets: overlay(
      catalog.targets,
      targets.entries.map(({ name, value, tree }) => userItem({ name, value: lowerTargetFile(name, value), tree })),
    ),
    blueprints: new Map([...Object.entries(catalog.blueprints), ...blueprints.plans]),
    toolsets: catalog.toolsets,
    actingToolsets: catalog.actingToolsets,
  };
}

/** User entries come last, even those that replace shipped ones: if two entries claim an alias, the user's is reported. */
function overlay<T>(
  shipped: Readonly<Record<string, T>>,
  own: readonly Named<T>[],
): ReadonlyMap<string, CatalogItem<T>> {
  const items = new Map(Object.entries(shipped).map(shippedItem));
  for (const [name] of own) items.delete(name);
  return new Map([...items, ...own]);
}

type Named<T> = readonly [string, CatalogItem<T>];

const shippedItem = <T>([name, value]: readonly [string, T]): Named<T> => [name, { value, written: null }];

const userItem = <T>({ name, value, tree }: CatalogEntry<T>): Named<T> => [
  name,
  { value, written: { tree, base: [] } },
];

/** The sources defined in the config. A source that the home's catalog also defines is reported as a duplicate. */
function configSources(
  { config, tree }: { readonly config: Config; readonly tree: Places },
  own: ReadonlyMap<string, CatalogItem<SourceFile>>,
  report: Report,
): readonly Named<SourceFile>[] {
  return Object.entries(config.sources ?? {}).map(([name, value]): Named<SourceFile> => {
    const base = ['sources', name];
    const other = own.get(name)?.written?.tree.place([]);
    if (other !== undefined) {
      const message = `source \`${name}\` is defined in two files`;
      const related = [{ source: other.file.source, range: other.value, message: 'it is first defined here' }];
      const place = tree.place(base);
      const range = place.key ?? place.value;
      report.add([{ rule: 'duplicate-definition', source: place.file.source, range, message, related }]);
    }
    return [name, { value, written: { tree, base } }];
  });
}
