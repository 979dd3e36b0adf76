/** Opens the sources a command may name: those that come with the program, above them those of the home and the config. */
import { join } from 'node:path';
import { suggest } from '../../compiler/diagnostics/suggest.ts';
import type { LoweredSource } from '../../compiler/lower/default-sources.ts';
import { lowerSource } from '../../compiler/lower/source.ts';
import type { SourceEntry } from '../../compiler/lower/source-variants.ts';
import { expandSource, sourceNames } from '../../compiler/lower/source-variants.ts';
import { loadCatalogFolder } from '../../compiler/source/load-catalog.ts';
import { loadConfig } from '../../compiler/source/load-config.ts';
import { isPlainMap } from '../../compiler/source/plain-map.ts';
import { mergeFiles } from '../../compiler/source/source-tree.ts';
import { validate as validateSource } from '../../schemas/built/validate-source.ts';
import type { SourceFile } from '../../schemas/generated/types.ts';
import type { CliContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { nodeFiles } from '../files/node-files.ts';
import { printNote } from '../output/print.ts';

export interface OpenSource extends LoweredSource {
  /** Not shipped: written by the user. */
  readonly own: boolean;
}

export interface OpenSources {
  /** By name, sorted. */
  readonly sources: readonly OpenSource[];
  /** @throws CliError with the closest names. */
  find(name: string): OpenSource;
}

/** Entries at fault are left out and named on stderr: `lint` says what is wrong with them. */
export async function openSources(context: CliContext, configs: readonly string[] | undefined): Promise<OpenSources> {
  const shipped = (await context.catalog()).sources;
  const own = { ...homeSources(context), ...configSources(context, configs ?? []) };
  const entries = Object.entries({ ...shipped, ...own }).flatMap(([name, file]) => expandSource(name, file));
  const sources = entries
    .flatMap((entry) => lowerEntry(context, entry, Object.hasOwn(own, entry.parent)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const names = sourceNames(entries);
  return {
    sources,
    find: (name) => {
      const found = sources.find((source) => source.name === names.get(name));
      if (found !== undefined) return found;
      const [close] = suggest(name, names.keys());
      const hint = close === undefined ? 'hookwright source list shows them all' : `did you mean ${close}?`;
      throw new CliError(`there is no source "${name}"`, hint);
    },
  };
}

function lowerEntry(context: CliContext, { name, file }: SourceEntry, own: boolean): readonly OpenSource[] {
  const { plan } = lowerSource(name, file);
  if (plan !== null) return [{ name, file, plan, own }];
  printNote(context, `source "${name}" is left out, it cannot be verified: hookwright lint says why`);
  return [];
}

function homeSources(context: CliContext): Record<string, SourceFile> {
  const folder = join(context.home, 'catalog/sources');
  const { entries, findings } = loadCatalogFolder({ files: nodeFiles, cwd: context.cwd, folder, schema: 'source' });
  for (const path of new Set(findings.map(({ source }) => source.path))) {
    printNote(context, `${path} is left out: hookwright lint says what is wrong with it`);
  }
  return Object.fromEntries(entries.map(({ name, value }) => [name, value]));
}

/** Only `sources:` is read here; the rest of the config is for `compile` and `lint` to judge. */
function configSources(context: CliContext, configs: readonly string[]): Record<string, SourceFile> {
  const { cwd, home } = context;
  const usual = [join(cwd, 'hookwright.yaml'), join(home, 'config.yaml')];
  if (configs.length === 0 && usual.every((path) => nodeFiles.stat(path) === null)) return {};
  const loaded = loadConfig({ files: nodeFiles, cwd, home, configs });
  if (loaded.incomplete || loaded.files.length === 0) return {};
  const { sources } = mergeFiles(loaded.files).tree.value;
  if (!isPlainMap(sources)) return {};
  return Object.fromEntries(
    Object.entries(sources).filter((entry): entry is [string, SourceFile] => validateSource(entry[1])),
  );
}
