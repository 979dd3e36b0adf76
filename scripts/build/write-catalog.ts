/** Writes the shipped catalog as one file in place of a hundred: what start-up reads. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeFiles } from '../../cli/files/node-files.ts';
import { CATALOG_JSON, readYamlCatalog } from '../../compiler/shipped-catalog.ts';

/** @param from folder of the YAML files @param to folder of the one file */
export function writeCatalog(from: string, to: string): void {
  writeFileSync(join(to, CATALOG_JSON), JSON.stringify(readYamlCatalog(nodeFiles, from)));
}
