/** Loads the catalog: the shipped files, or the JSON that the build creates from them, and the user's folders. */
import { join } from 'node:path';
import { canonicalName, SPEC_NAMES } from '../../base/spec-names.ts';
import type { AgentFile, BlueprintFile, SourceFile, TargetFile } from '../../schemas/generated/types.ts';
import type { KnownToolsets } from '../config/agents.ts';
import { completeTarget } from '../config/target-entries.ts';
import type { Finding, Problem } from '../diagnostics/diagnostic.ts';
import { lowerSources } from '../lower/sources.ts';
import type { CatalogTarget } from '../lower/targets.ts';
import { lowerTargetFile, lowerTargets } from '../lower/targets.ts';
import { createLines } from '../print/lines.ts';
import type { FileTypes } from '../schema/validate.ts';
import { isPlainMap } from '../text/plain-data.ts';
import type { Disk, Files } from './files.ts';
import { readText } from './files.ts';
import type { Places } from './find-place.ts';
import { findPlace } from './find-place.ts';
import { loadFile } from './load-config.ts';
import { parseYaml } from './parse-yaml.ts';

/** Entries by canonical name. */
export interface ShippedCatalog {
  readonly sources: Readonly<Record<string, SourceFile>>;
  readonly targets: Readonly<Record<string, CatalogTarget>>;
  readonly agents: Readonly<Record<string, AgentFile>>;
  readonly blueprints: Readonly<Record<string, BlueprintFile>>;
  readonly toolsets: KnownToolsets;
  /** Toolsets that let a run change something besides its answer. */
  readonly actingToolsets: readonly string[];
}

/** Written by scripts/build.ts: parsing a hundred YAML files would dominate the start-up time. */
export const CATALOG_JSON = 'catalog.json';

/**
 * @param folder absolute path
 * @throws Error naming file and line of the first mistake: the installation is damaged, not the user's config
 */
export function loadShippedCatalog(files: Files, folder: string): ShippedCatalog {
  const built = readText(files, join(folder, CATALOG_JSON));
  // The build has validated the entries.
  return built.ok ? (JSON.parse(built.text) as ShippedCatalog) : readYamlCatalog(files, folder);
}

/** @throws Error naming file and line of the first mistake */
export function readYamlCatalog(files: Files, folder: string): ShippedCatalog {
  const load = <S extends 'agent' | 'blueprint' | 'source' | 'target'>(
    schema: S,
  ): readonly CatalogEntry<FileTypes[S]>[] => {
    const loaded = loadCatalogFolder({ files, cwd: folder, folder: join(folder, `${schema}s`), schema });
    refuse(loaded.findings);
    return loaded.entries;
  };
  const sources = load('source');
  const targets = load('target').map(({ name, value, tree }) => ({ name, tree, value: lowerTargetFile(name, value) }));
  refuseProblems(sources, lowerSources(new Map(sources.map(({ name, value }) => [name, value]))).problems);
  refuseProblems(targets, lowerTargets(new Map(targets.map(({ name, value }) => [name, value]))).problems);
  const toolsets = readToolsets(files, join(folder, 'toolsets.yaml'));
  return {
    sources: Object.fromEntries(sources.map(({ name, value }) => [name, value])),
    targets: Object.fromEntries(targets.map(({ name, value }) => [name, value])),
    agents: Object.fromEntries(load('agent').map(({ name, value }) => [name, value])),
    blueprints: Object.fromEntries(load('blueprint').map(({ name, value }) => [name, value])),
    toolsets: Object.fromEntries(toolsets.map(({ name, isBarred }) => [name, !isBarred])),
    actingToolsets: toolsets.flatMap(({ name, acts }) => (acts ? [name] : [])),
  };
}

function refuse([finding]: readonly Finding[]): void {
  if (finding === undefined) return;
  const { source, range, message } = finding;
  const { line } = createLines().positionOf(source, range.start);
  throw new Error(`the shipped catalog is damaged: ${source.path}:${line}: ${message}`);
}

/** @param problems by name of the entry */
function refuseProblems(
  entries: readonly Pick<CatalogEntry<unknown>, 'name' | 'tree'>[],
  problems: ReadonlyMap<string, readonly Problem[]>,
): void {
  for (const { name, tree } of entries) refuse((problems.get(name) ?? []).map((problem) => findPlace(problem, tree)));
}

interface Toolset {
  readonly name: string;
  readonly isBarred: boolean;
  readonly acts: boolean;
}

function readToolsets(files: Files, path: string): readonly Toolset[] {
  const read = readText(files, path);
  if (!read.ok) throw new Error(`the shipped catalog is damaged: ${path}: ${read.message}`);
  const { file, findings } = parseYaml({ path, name: path, text: read.text });
  refuse(findings);
  if (file === null || !isPlainMap(file.value))
    throw new Error(`the shipped catalog is damaged: ${path}:1: a map of toolsets is expected`);
  return Object.entries(file.value).map(([name, toolset]) => {
    const { barred_from: barred, acts } = isPlainMap(toolset) ? toolset : {};
    return { name, isBarred: Array.isArray(barred) && barred.includes('webhook'), acts: acts === true };
  });
}

/** Loads the files of one catalog folder, shipped or of the user. */
export interface CatalogEntry<T> {
  readonly name: string;
  readonly value: T;
  readonly tree: Places;
}

export interface CatalogFolder<S extends keyof FileTypes> extends Disk {
  /** Absolute path. A missing folder counts as empty. */
  readonly folder: string;
  readonly schema: S;
}

/**
 * Renames user entries whose name is a token of the specification to the usual name, so that they replace the shipped
 * ones. The specification's names of an entry become its aliases, unless another user entry has them.
 */
export function underRealNames<
  Entry extends { readonly name: string; readonly value: { readonly aliases?: readonly string[] } },
>(kind: keyof typeof SPEC_NAMES, entries: readonly Entry[]): readonly Entry[] {
  const usedNames = new Set(entries.map(({ name }) => name));
  return entries.map((entry) => {
    const real = canonicalName(kind, entry.name);
    const name = usedNames.has(real) ? entry.name : real;
    const { aliases = [] } = entry.value;
    const tokens = Object.entries(SPEC_NAMES[kind]).flatMap(([token, of]) =>
      of !== name || aliases.includes(token) || (usedNames.has(token) && token !== entry.name) ? [] : [token],
    );
    return tokens.length === 0
      ? entry
      : { ...entry, name, value: { ...entry.value, aliases: [...tokens, ...aliases] } };
  });
}

/** The file name without its extension is the entry's name. */
export function loadCatalogFolder<S extends keyof FileTypes>({
  files,
  cwd,
  folder,
  schema,
}: CatalogFolder<S>): {
  readonly entries: readonly CatalogEntry<FileTypes[S]>[];
  readonly findings: readonly Finding[];
} {
  const findings: Finding[] = [];
  const entries = catalogFiles(files, folder).flatMap((fileName): readonly CatalogEntry<FileTypes[S]>[] => {
    const loaded = loadFile({ files, cwd, path: join(folder, fileName), schema });
    findings.push(...loaded.findings);
    const name = fileName.replace(/\.ya?ml$/, '');
    return loaded.file === null ? [] : [{ name, ...loaded.file }];
  });
  if (schema !== 'target') return { entries, findings };
  const byName = new Map(entries.map(({ name, value }) => [name, value as TargetFile]));
  return {
    entries: entries.map((entry) => ({
      ...entry,
      value: completeTarget(entry.value as TargetFile, byName) as FileTypes[S],
    })),
    findings,
  };
}

const catalogFiles = (files: Files, folder: string): readonly string[] =>
  files
    .list(folder)
    .filter((name) => /^[^.].*\.ya?ml$/.test(name))
    .toSorted();
