/** The store that the configuration names: where a command finds it when no gateway serves this home. */
import { existsSync } from 'node:fs';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { searchConfig } from '../../compiler/source/search-config.ts';
import { databaseUrl } from '../../modules/cluster/runtime/database-url.ts';
import { createSecrets } from '../../runtime/platform/secrets/machine-secrets.ts';
import type { Store } from '../../runtime/store/store.ts';
import { StoreRefused, StoreUnavailable } from '../../runtime/store/store.ts';
import { storePath } from '../../runtime/store/store-path.ts';
import type { StorePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';

/** The configuration does not lead to a store: it cannot be read, or the URL of the database is not set. */
export class UnknownStore extends CliError {}

/** The store cannot be opened now: its medium is full, read-only or failing, or the database is away or refuses. */
export class StoreOutOfReach extends CliError {}

/** What is needed to find the database. */
export type DatabaseContext = Pick<CliContext, 'home' | 'env' | 'projectEnv' | 'clock'>;

export type PostgresPlan = Extract<StorePlan, { kind: 'postgres' }>;

/** @param configs default: those of the command line @throws UnknownStore when the configuration cannot be read */
export async function configuredStore(
  context: CliContext,
  configs: readonly string[] = context.configs ?? [],
): Promise<StorePlan> {
  // A home without a configuration has no parser to wait for.
  if (configs.length === 0 && searchConfig(nodeFiles, context).root === null) return { kind: 'sqlite' };
  const { readStorePlan } = await import('../../compiler/read-store-plan.ts');
  const plan = readStorePlan({ files: nodeFiles, cwd: context.cwd, home: context.home, configs });
  if (plan !== null) return plan;
  if (existsSync(storePath(context.home))) return { kind: 'sqlite' };
  throw new UnknownStore(
    'the configuration does not say where the store is: it has errors',
    'hookwright lint shows them',
  );
}

/** @throws UnknownStore when the reference leads to no URL */
export function resolveDatabaseUrl(context: DatabaseContext, { url }: Pick<PostgresPlan, 'url'>): string {
  try {
    return databaseUrl(url, createSecrets(context));
  } catch (error) {
    if (error instanceof StoreRefused) throw new UnknownStore(error.message);
    throw error;
  }
}

/**
 * The database, opened as a client: it takes no work. Null: there are no tables in it, and none are to be made.
 * @throws StoreOutOfReach when it cannot be reached, or cannot be used; UnknownStore
 */
export async function openDatabase(
  context: DatabaseContext,
  plan: PostgresPlan,
  { create }: { readonly create: boolean },
): Promise<Store | null> {
  const url = resolveDatabaseUrl(context, plan);
  // Loaded on demand: it pulls in the driver.
  const { openClientStore } = await import('../../modules/cluster/runtime/postgres/client-store.ts');
  try {
    return await openClientStore({ url, schema: plan.schema, clock: context.clock, create });
  } catch (error) {
    if (!(error instanceof StoreRefused || error instanceof StoreUnavailable)) throw error;
    const [first = '', ...hints] = error.message.split('\n');
    throw new StoreOutOfReach(first, ...(hints.length > 0 ? hints : ['hookwright doctor checks the database']));
  }
}
