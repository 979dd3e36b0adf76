/**
 * The engine of a later version beside the one under test: a copy of this program whose tables were changed, each
 * version as the rules of migrations.yaml allow. It replaces a released package, because none with this engine exists.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { openPostgresStore } from '../../../modules/cluster/runtime/postgres/postgres-store.ts';
import { SCHEMA_VERSION } from '../../../modules/cluster/runtime/postgres/schema.ts';
import type { Ending } from '../at-end.ts';
import { copyRuntime, ENDING } from '../tree-copy.ts';

/** Changes of the tables with which the previous version still works. */
const changeOf = (version: number): string => `
  ALTER TABLE dispatch ADD COLUMN added_${version} text NOT NULL DEFAULT 'none';
  ALTER TABLE work ADD COLUMN added_${version} bigint;
  CREATE INDEX work_added_${version} ON work (added_${version}) WHERE added_${version} IS NOT NULL;
  CREATE TABLE added_${version} (ref bigint PRIMARY KEY, text text NOT NULL);
`;

/** @param ahead number of versions of the tables @returns its `openPostgresStore` */
export async function laterVersion(t: Ending, ahead: number): Promise<typeof openPostgresStore> {
  const dir = copyRuntime(t);
  const file = join(dir, `modules/cluster/runtime/postgres/schema${ENDING}`);
  const added = Array.from({ length: ahead }, (_, n) => JSON.stringify(changeOf(SCHEMA_VERSION + n + 1)));
  const text = readFileSync(file, 'utf8')
    .replace('WRITTEN.length', `${SCHEMA_VERSION + ahead}`)
    .replace('WRITTEN.map(', `[...WRITTEN, ${added.join(', ')}].map(`);
  writeFileSync(file, text);
  const loaded = await import(
    pathToFileURL(join(dir, `modules/cluster/runtime/postgres/postgres-store${ENDING}`)).href
  );
  return (loaded as { openPostgresStore: typeof openPostgresStore }).openPostgresStore;
}
