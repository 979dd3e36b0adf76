/** Loads the known agents: the shipped ones, and those of the home, which replace them. */
import { join } from 'node:path';
import type { Finding } from '../../../compiler/diagnostics/diagnostic.ts';
import { loadCatalogFolder } from '../../../compiler/source/load-catalog.ts';
import type { CatalogInput } from '../../../compiler/stages/catalog.ts';
import type { AgentFile } from '../../../schemas/generated/types.ts';

interface LoadedAgents {
  /** By name, sorted. */
  readonly agents: ReadonlyMap<string, KnownAgent>;
  readonly findings: readonly Finding[];
}

export interface KnownAgent {
  readonly file: AgentFile;
  /** Path of the file of the home; null: shipped. */
  readonly path: string | null;
}

export function loadAgents({ files, cwd, home, catalog }: CatalogInput): LoadedAgents {
  const folder = join(home, 'catalog', 'agents');
  const own = loadCatalogFolder({ files, cwd, folder, schema: 'agent' });
  const all = new Map<string, KnownAgent>([
    ...Object.entries(catalog.agents).map(([name, file]) => [name, { file, path: null }] as const),
    ...own.entries.map(({ name, value, tree }) => {
      return [name, { file: value, path: tree.files[0]?.source.path ?? folder }] as const;
    }),
  ]);
  return { agents: new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1))), findings: own.findings };
}
