/** Reads a compiled table, `routes.json`, for commands. */
import { readFile } from 'node:fs/promises';
import { loadTable, TableError } from '../../runtime/table/load.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { CliError } from '../base/errors.ts';

/** @throws CliError if it is not one */
export async function readTable(path: string): Promise<RouteTable> {
  try {
    const table = await loadTable(await readFile(path), '');
    if (table === 'same') throw new TableError('the table has no hash');
    return table;
  } catch (error) {
    if (error instanceof TableError) throw new CliError(`${path}: ${error.message}`);
    throw error;
  }
}
