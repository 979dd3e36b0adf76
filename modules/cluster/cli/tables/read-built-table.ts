/** Reads a table that `compile` has written, to be sent to other machines. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../../../../cli/base/errors.ts';
import { readTable } from '../../../../cli/compile/compile-files.ts';
import { routeSecretRefs, tableSecretRefs } from '../../../../runtime/platform/secrets/secret-refs.ts';
import type { TableFiles } from '../../../../runtime/store/shared.ts';
import type { RouteTable, SecretRef } from '../../../../schemas/generated/types.ts';

interface BuiltTable {
  readonly hash: string;
  /** Number of its routes. */
  readonly routes: number;
  readonly files: TableFiles;
  /** Whether it sets `gateway.store.key`. */
  readonly isKeyed: boolean;
}

/** @throws CliError if it is not a complete table, contains a secret, or its gateways would not share a store */
export async function readBuiltTable(folder: string): Promise<BuiltTable> {
  const path = join(folder, 'routes.json');
  const table = await readTable(path).catch((error: unknown) => {
    throw isMissing(error) ? new CliError(`there is no table in ${folder}`, 'write one: hookwright compile') : error;
  });
  refuseSecrets(table);
  const { store } = table.gateway;
  if (store.kind !== 'postgres')
    throw new CliError(
      'this table names no database as its store: gateways that serve it would not share one',
      'set gateway.store and compile again: hookwright docs scale',
    );
  const [routes, blueprints] = await Promise.all([
    readFile(path, 'utf8'),
    readFile(join(folder, 'blueprints.json'), 'utf8'),
  ]);
  const files = { routes, blueprints };
  return { hash: table.hash, routes: Object.keys(table.routes).length, files, isKeyed: store.key !== null };
}

/** Everyone with access to the database could read a secret in a table. */
function refuseSecrets(table: RouteTable): void {
  const routes = Object.values(table.routes).filter((route) => routeSecretRefs(route).some(isSecret));
  const named = routes.map(({ name }) => `route ${name}`);
  const count = tableSecretRefs(table).filter(isSecret).length;
  if (count === 0) return;
  const where = named.length === 0 ? 'settings' : named.slice(0, 5).join(', ');
  throw new CliError(
    `the table holds ${count === 1 ? 'a secret' : `${count} secrets`} (${where}): whoever reads the database would have ${count === 1 ? 'it' : 'them'}`,
    'write references instead, env:NAME or file:path, and compile again',
  );
}

const isSecret = ({ kind, value }: SecretRef): boolean => kind === 'literal' && value !== 'INSECURE_NO_AUTH';

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
