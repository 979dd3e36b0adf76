/** Writes the shipped catalog as a single file, so that start-up does not read a hundred files. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** @param built folder of the compiled sources, which read the catalog @param from folder of the YAML files @param to folder of the single file */
export async function writeCatalog(built: string, from: string, to: string): Promise<void> {
  const load = (module: string): Promise<unknown> => import(pathToFileURL(join(built, module)).href);
  const { nodeFiles } = (await load('compiler/node/node-files.js')) as typeof import('../../compiler/node/node-files.ts');
  const { CATALOG_JSON, readYamlCatalog } = (await load(
    'compiler/source/load-catalog.js',
  )) as typeof import('../../compiler/source/load-catalog.ts');
  writeFileSync(join(to, CATALOG_JSON), JSON.stringify(readYamlCatalog(nodeFiles, from)));
}
