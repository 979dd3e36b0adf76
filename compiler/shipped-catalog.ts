/** Loads the shipped catalog: from YAML files, or from the JSON file that the build creates from them. */
import { join } from 'node:path';
import type { BlueprintPlan, SourceFile } from '../schemas/generated/types.ts';
import type { KnownToolsets } from './config/toolsets.ts';
import type { Finding } from './diagnostics/diagnostic.ts';
import type { CatalogTarget } from './lower/targets.ts';
import { lowerTargetFile } from './lower/targets.ts';
import type { Files } from './source/files.ts';
import { loadBlueprints } from './source/load-blueprints.ts';
import { loadCatalogFolder } from './source/load-catalog.ts';
import { parseYaml } from './source/parse-yaml.ts';
import { readText } from './source/read-text.ts';
import { isPlainMap } from './text/plain-map.ts';

/** Entries by canonical name. */
export interface ShippedCatalog {
  readonly sources: Readonly<Record<string, SourceFile>>;
  readonly targets: Readonly<Record<string, CatalogTarget>>;
  readonly blueprints: Readonly<Record<string, BlueprintPlan>>;
  readonly toolsets: KnownToolsets;
  /** Toolsets that let a run change things outside its answer. */
  readonly actingToolsets: readonly string[];
}

/** Written by scripts/build.ts: parsing a hundred YAML files would dominate the start-up time. */
export const CATALOG_JSON = 'catalog.json';

/**
 * @param folder absolute path
 * @throws Error if an entry is invalid: the installation is damaged, not the user's config
 */
export function loadShippedCatalog(files: Files, folder: string): ShippedCatalog {
  const built = readText(files, join(folder, CATALOG_JSON));
  // The build has validated the entries.
  return built.ok ? (JSON.parse(built.text) as ShippedCatalog) : readYamlCatalog(files, folder);
}

/** @throws Error if an entry is invalid */
export function readYamlCatalog(files: Files, folder: string): ShippedCatalog {
  const load = <S extends 'source' | 'target'>(schema: S) => {
    const loaded = loadCatalogFolder({ files, cwd: folder, folder: join(folder, `${schema}s`), schema });
    refuse(loaded.findings);
    return loaded.entries;
  };
  const blueprints = loadBlueprints({ files, cwd: folder, folders: [join(folder, 'blueprints')] });
  refuse(blueprints.findings);
  const toolsets = readToolsets(files, join(folder, 'toolsets.yaml'));
  return {
    sources: Object.fromEntries(load('source').map(({ name, value }) => [name, value])),
    targets: Object.fromEntries(load('target').map(({ name, value }) => [name, lowerTargetFile(name, value)])),
    blueprints: Object.fromEntries(blueprints.plans),
    toolsets: Object.fromEntries(toolsets.map(({ name, isBarred }) => [name, !isBarred])),
    actingToolsets: toolsets.flatMap(({ name, acts }) => (acts ? [name] : [])),
  };
}

function refuse([finding]: readonly Finding[]): void {
  if (finding !== undefined)
    throw new Error(`the shipped catalog is damaged: ${finding.source.path}: ${finding.message}`);
}

interface Toolset {
  readonly name: string;
  readonly isBarred: boolean;
  readonly acts: boolean;
}

function readToolsets(files: Files, path: string): readonly Toolset[] {
  const read = readText(files, path);
  const parsed = read.ok ? parseYaml({ path, name: path, text: read.text }).file : null;
  if (parsed === null || !isPlainMap(parsed.value)) throw new Error(`the shipped catalog is damaged: ${path}`);
  return Object.entries(parsed.value).map(([name, toolset]) => {
    const { barred_from: barred, acts } = isPlainMap(toolset) ? toolset : {};
    return { name, isBarred: Array.isArray(barred) && barred.includes('webhook'), acts: acts === true };
  });
}
