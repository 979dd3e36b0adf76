/** The PostgreSQL database that a command works on directly, beside the gateways. */
import { DEFAULT_PROFILE } from '../../../../base/profiles.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError, refusalOf } from '../../../../cli/base/errors.ts';
import { configuredStore } from '../../../../cli/store/use-store.ts';
import { parseSecretRef } from '../../../../compiler/text/secret-ref.ts';
import { StoreRefused } from '../../../../runtime/store/store.ts';
import type { PgConnection } from '../../runtime/postgres/driver.ts';
import { resolveDatabaseUrl } from '../open-database.ts';

export interface Database {
  /** Never printed. */
  readonly url: string;
  readonly schema: string;
}

interface DatabaseFlags {
  readonly config?: readonly string[] | undefined;
  /** A secret reference in place of the configured one. */
  readonly database?: string | undefined;
  readonly schema?: string | undefined;
}

const DEFAULT_SCHEMA = 'hookwright';

/** The one that flags or configuration name. @throws CliError when they name none, or its reference leads nowhere */
export async function findDatabase(context: CliContext, flags: DatabaseFlags): Promise<Database> {
  const named = flags.database === undefined ? null : parseSecretRef(flags.database, DEFAULT_PROFILE);
  // Without a configuration flags are enough, such as on a machine that only migrates.
  const store = named !== null && flags.schema !== undefined ? null : await configuredStore(context, flags.config);
  const plan = store?.kind === 'postgres' ? store : null;
  const url = named ?? plan?.url ?? null;
  if (url === null) {
    throw new CliError(
      'gateway.store names no PostgreSQL: the store is a file of this machine',
      'name the database: --database env:DATABASE_URL',
    );
  }
  const schema = flags.schema ?? plan?.schema ?? DEFAULT_SCHEMA;
  return { url: resolveDatabaseUrl(context, { url }), schema };
}

/** Runs `use` over a connection of its own. @throws CliError when the database cannot be reached, or refuses */
export async function withDatabase<T>(
  { url }: Pick<Database, 'url'>,
  use: (db: PgConnection) => Promise<T>,
): Promise<T> {
  const { loadDriver, describePgError } = await import('../../runtime/postgres/driver.ts');
  let db: PgConnection | null = null;
  try {
    const connect = await loadDriver();
    // Nothing outlives a transaction, so this works behind a pooler too.
    db = await connect({ url, name: 'hookwright command', prepare: false });
    return await use(db);
  } catch (error) {
    if (error instanceof StoreRefused) throw refusalOf(error);
    if (error instanceof CliError) throw error;
    throw new CliError(`the database: ${describePgError(error)}`);
  } finally {
    await db?.close().catch(() => {});
  }
}
