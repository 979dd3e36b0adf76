/** Opens the database that several gateways share, for a command. */
import type { DatabaseContext, PostgresPlan } from '../../../cli/base/module.ts';
import { StoreOutOfReach, UnknownStore } from '../../../cli/store/use-store.ts';
import { createSecrets } from '../../../runtime/platform/secrets/machine-secrets.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { StoreRefused, StoreUnavailable } from '../../../runtime/store/store.ts';
import { databaseUrl } from '../runtime/database-url.ts';
import { openClientStore } from '../runtime/postgres/client-store.ts';

/** @throws UnknownStore when the reference leads to no URL */
export function resolveDatabaseUrl(context: DatabaseContext, { url }: Pick<PostgresPlan, 'url'>): string {
  try {
    return databaseUrl(url, createSecrets(context));
  } catch (error) {
    if (error instanceof StoreRefused) throw new UnknownStore(error.message);
    throw error;
  }
}

/** Null: there are no tables in it, and none are to be made. @throws StoreOutOfReach, UnknownStore */
export async function openClientDatabase(
  context: DatabaseContext,
  plan: PostgresPlan,
  { create }: { readonly create: boolean },
): Promise<Store | null> {
  const url = resolveDatabaseUrl(context, plan);
  try {
    return await openClientStore({ url, schema: plan.schema, clock: context.clock, create });
  } catch (error) {
    if (!(error instanceof StoreRefused || error instanceof StoreUnavailable)) throw error;
    const [first = '', ...hints] = error.message.split('\n');
    throw new StoreOutOfReach(first, ...(hints.length > 0 ? hints : ['hookwright doctor checks the database']));
  }
}
