/** Where tables come from: a file that is watched, or a value that the embedding program passes. */
import { codeOf } from '../../base/code-of.ts';
import { TABLE_FORMAT } from '../../base/table-format.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { GatewayFiles } from '../platform/node-files.ts';
import { FileVersion } from './file-version.ts';
import { loadTable, TableError } from './load.ts';

export interface TableSource {
  /** Whether `load` may return a different table than last time. Never throws. */
  changed(): boolean;
  /** Returns the current table, or `same` when its hash is `current`. Rejects with TableError when there is none to serve. */
  load(current: string): Promise<RouteTable | 'same'>;
  /** Calls `changed` when the table may have changed; returns a function that stops. Throws as node:fs does. */
  watch(changed: () => void): () => void;
}

/** A compiled table in memory. @throws TableError when it has another format */
export function tableValue(table: RouteTable): TableSource {
  if (table.format !== TABLE_FORMAT) {
    throw new TableError(`the table has format ${String(table.format)}, this version serves ${TABLE_FORMAT}`);
  }
  return {
    changed: () => false,
    load: async (current) => (table.hash === current ? 'same' : table),
    watch: () => () => {},
  };
}

/** A compiled table in a file. @param path of `routes.json`, absolute */
export function tableFile(
  path: string,
  { stat, read, watch }: Pick<GatewayFiles, 'stat' | 'read' | 'watch'>,
  clock: Clock,
): TableSource {
  const version = new FileVersion();
  return {
    changed: () => {
      try {
        return version.differs(stat(path));
      } catch {
        return false;
      }
    },
    load: async (current) => {
      version.note(stat(path), clock.now());
      return loadTable(await readTable(path, read), current);
    },
    watch: (changed) => watch(path, changed),
  };
}

async function readTable(path: string, read: GatewayFiles['read']): Promise<Buffer> {
  try {
    return await read(path);
  } catch (error) {
    const code = codeOf(error) ?? String(error);
    const hint = code === 'ENOENT' ? ': run `hookwright compile`' : '';
    throw new TableError(`${path} cannot be read (${code})${hint}`);
  }
}
