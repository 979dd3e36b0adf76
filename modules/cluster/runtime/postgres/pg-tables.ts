/** Compiled tables in the database. */
import type { SharedTable, SharedTables, TableFiles } from '../../../../runtime/store/shared-tables.ts';
import { ACTIVE_TABLE } from '../../../../runtime/store/shared-tables.ts';
import type { SnapshotReader } from './snapshot.ts';

/** Number of tables that are kept. */
const KEPT = 20;

const PUSH =
  'INSERT INTO route_table (hash, routes, files) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING RETURNING 1';
const TRIM =
  `DELETE FROM route_table WHERE hash NOT IN (SELECT body FROM document WHERE name = '${ACTIVE_TABLE}') AND hash NOT IN ` +
  `(SELECT hash FROM route_table ORDER BY pushed_at DESC, hash LIMIT ${KEPT})`;
const LIST =
  'SELECT hash, routes, to_char(pushed_at AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') AS pushed_at ' +
  'FROM route_table ORDER BY route_table.pushed_at DESC, hash';
const LOAD = 'SELECT files FROM route_table WHERE hash = $1';

/** @param reads, writes connections; each query and each change is one transaction */
export function pgTables(reads: SnapshotReader, writes: SnapshotReader): SharedTables {
  return {
    async push({ hash, routes }, files) {
      const [pushed = []] = await writes.ask<readonly (readonly object[])[]>(
        [PUSH, hash, routes, JSON.stringify(files)],
        [TRIM],
      );
      return pushed.length > 0;
    },
    async list() {
      const [rows = []] = await reads.ask<readonly (readonly SharedTable[])[]>([LIST]);
      return rows;
    },
    async load(hash) {
      const [[row] = []] = await reads.ask<readonly (readonly { readonly files: string }[])[]>([LOAD, hash]);
      return row === undefined ? null : (JSON.parse(row.files) as TableFiles);
    },
  };
}
