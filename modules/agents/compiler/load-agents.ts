/** Loads the known agents: the shipped ones, and those of the home, which replace them. */
import { join } from 'node:path';
import type { Finding } from '../../../compiler/diagnostics/diagnostic.ts';
import { loadCatalogFolder } from '../../../compiler/source/load-catalog.ts';
import type { CatalogInput } from '../../../compiler/stages/catalog.ts';
import type { AgentFile } from '../../../schemas/generated/types.ts';

interface LoadedAgents {
  /** By name, sorted. */
  readonly agents: ReadonlyMap<string, AgentFile>;
  readonly findings: readonly Finding[];
}

export function loadAgents({ files, cwd, home, catalog }: CatalogInput): LoadedAgents {
  const own = loadCatalogFolder({ files, cwd, folder: join(home, 'catalog', 'agents'), schema: 'agent' });
  const all = { ...catalog.agents, ...Object.fromEntries(own.entries.map(({ name, value }) => [name, value])) };
  return { agents: new Map(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))), findings: own.findings };
}
