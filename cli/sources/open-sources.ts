/** Opens the sources that a command may name: the shipped ones, overridden by those of the home and the configuration. */
import { join } from 'node:path';
import { lowerSource } from '../../compiler/lower/source.ts';
import type { LoweredSource, SourceEntry } from '../../compiler/lower/sources.ts';
import { expandSource, sourceNames } from '../../compiler/lower/sources.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import type { Files } from '../../compiler/source/files.ts';
import { loadCatalogFolder, underRealNames } from '../../compiler/source/load-catalog.ts';
import type { SourceTree } from '../../compiler/source/source-tree.ts';
import type { CatalogItem } from '../../compiler/stages/catalog.ts';
import { isPlainMap } from '../../compiler/text/plain-data.ts';
import { source as validateSource } from '../../schemas/built/validators.ts';
import type { SourceFile } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { findName } from '../base/errors.ts';
import { readConfig } from '../compile/compile-files.ts';
import { printNote } from '../output/print.ts';

export interface OpenSource extends LoweredSource {
  /** Name of the file that it is a variant of, or its own name. */
  readonly parent: string;
  /** Written by the user. */
  readonly own: boolean;
}

export interface OpenSources {
  /** By name, sorted. */
  readonly sources: readonly OpenSource[];
  /** Files by canonical name, with their variants; the user's files with their position. */
  readonly files: ReadonlyMap<string, CatalogItem<SourceFile>>;
  /** The file system, as far as these files may name others. */
  readonly named: Files;
  /** All names that `find` accepts. */
  readonly names: readonly string[];
  /** @throws CliError with the closest names */
  find(name: string): OpenSource;
}

/** Invalid entries are skipped and named on stderr; `lint` explains them. */
export async function openSources(context: CliContext, configs: readonly string[] | undefined): Promise<OpenSources> {
  const { tree, named } = readConfig(context, configs ?? []);
  const shipped = Object.entries((await context.catalog()).sources);
  const files = new Map<string, CatalogItem<SourceFile>>([
    ...shipped.map(([name, value]) => [name, { value, written: null }] as const),
    ...homeSources(context),
    ...configSources(tree),
  ]);
  const entries = [...files].flatMap(([name, { value }]) => expandSource(name, value));
  const sources = entries
    .flatMap((entry) => lowerEntry(context, entry, files.get(entry.parent)?.written !== null))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = sourceNames(entries);
  return {
    sources,
    files,
    named,
    names: [...names.keys()],
    find: (name) => {
      const byName = new Map(sources.map((source) => [source.name, source]));
      const known = [...names].flatMap(([each, canonical]) => {
        const source = byName.get(canonical);
        return source === undefined ? [] : [[each, source] as const];
      });
      return findName({ kind: 'source', name, known, listedBy: 'hookwright source list' });
    },
  };
}

function lowerEntry(context: CliContext, { name, file, parent }: SourceEntry, own: boolean): readonly OpenSource[] {
  const { plan } = lowerSource(name, file);
  if (plan !== null) return [{ name, file, plan, parent, own }];
  printNote(context, `skipping source "${name}", which is invalid; to see why: hookwright lint`);
  return [];
}

type WrittenFile = readonly [name: string, item: CatalogItem<SourceFile>];

function homeSources(context: CliContext): readonly WrittenFile[] {
  const folder = join(context.home, 'catalog/sources');
  const { entries, findings } = loadCatalogFolder({ files: nodeFiles, cwd: context.cwd, folder, schema: 'source' });
  for (const path of new Set(findings.map(({ source }) => source.path))) {
    printNote(context, `skipping ${path}, which is invalid; to see why: hookwright lint`);
  }
  return underRealNames('source', entries).map(({ name, value, tree }) => [
    name,
    { value, written: { tree, base: [] } },
  ]);
}

/** Reads only `sources:`; `compile` and `lint` check the rest of the config. */
function configSources(tree: SourceTree | null): readonly WrittenFile[] {
  const sources = tree?.value.sources;
  if (tree === null || !isPlainMap(sources)) return [];
  const entries = Object.entries(sources).flatMap(([name, value]) =>
    validateSource(value) ? { name, value: value as SourceFile, written: { tree, base: ['sources', name] } } : [],
  );
  return underRealNames('source', entries).map(({ name, ...item }) => [name, item]);
}
