/** The PostgreSQL database that a command works on directly, beside the gateways. */
import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { parseSecretRef } from '../../compiler/text/secret-ref.ts';
import { databaseUrl } from '../../runtime/gateway-store.ts';
import { createSecrets } from '../../runtime/platform/secrets/machine-secrets.ts';
import type { PgConnection } from '../../runtime/store/postgres/driver.ts';
import { StoreRefused } from '../../runtime/store/store.ts';
import type { StorePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, refusalOf } from '../base/errors.ts';
import { compileRequest } from '../compile/compile-files.ts';

export interface Database {
  /** Never printed. */
  readonly url: string;
  readonly schema: string;
}

export interface DatabaseFlags {
  readonly config?: readonly string[] | undefined;
  /** A secret reference in place of the configured one. */
  readonly database?: string | undefined;
  readonly schema?: string | undefined;
}

type PostgresPlan = Extract<StorePlan, { kind: 'postgres' }>;

const DEFAULT_SCHEMA = 'hookwright';

/** The one that flags or configuration name. @throws CliError when they name none, or its reference leads nowhere */
export async function findDatabase(context: CliContext, flags: DatabaseFlags): Promise<Database> {
  const named = flags.database === undefined ? null : parseSecretRef(flags.database, DEFAULT_PROFILE);
  // Flags are enough where there is no configuration: a machine that only migrates, say.
  const plan = named !== null && flags.schema !== undefined ? null : await configuredPlan(context, flags.config);
  const url = named ?? plan?.url ?? null;
  if (url === null) {
    throw new CliError(
      'gateway.store names no PostgreSQL: the store is a file of this machine',
      'name the database: --database env:DATABASE_URL',
    );
  }
  try {
    const resolved = databaseUrl(url, createSecrets(context));
    return { url: resolved, schema: flags.schema ?? plan?.schema ?? DEFAULT_SCHEMA };
  } catch (error) {
    throw error instanceof StoreRefused ? refusalOf(error) : error;
  }
}

/** Runs `use` over a connection of its own. @throws CliError when the database cannot be reached, or refuses */
export async function withDatabase<T>({ url }: Database, use: (db: PgConnection) => Promise<T>): Promise<T> {
  const { loadDriver, describePgError } = await import('../../runtime/store/postgres/driver.ts');
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

/** Null: there is no configuration, or its store is a file. @throws CliError when it has errors */
async function configuredPlan(
  context: CliContext,
  configs: readonly string[] | undefined,
): Promise<PostgresPlan | null> {
  const { cwd, home, env } = context;
  const catalog = await context.catalog();
  const request = { cwd, home, configs: configs ?? [], env: { ...env }, flags: {}, catalog, jobs: [] };
  const { files, output } = compileRequest(request);
  if (output === null && files.length > 0) {
    throw new CliError('the configuration has errors', 'hookwright lint shows them');
  }
  const store = output?.table.gateway.store;
  return store?.kind === 'postgres' ? store : null;
}
