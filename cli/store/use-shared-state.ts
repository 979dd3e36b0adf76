/** What gateways share besides their work, for commands; it is in the database that the configuration names. */
import type { SharedState } from '../../runtime/store/store.ts';
import { StoreRefused, StoreUnavailable } from '../../runtime/store/store.ts';
import type { CliContext } from '../base/context.ts';
import { refusalOf } from '../base/errors.ts';
import type { PostgresPlan, SharedText } from '../base/module.ts';
import { loadPart } from '../base/module.ts';
import { configuredStore, openDatabase, StoreOutOfReach, UnknownStore } from './configured-store.ts';

/**
 * Opens the database, and closes it behind `use`. Null: there are no tables in it, and none are to be made.
 * @throws StoreOutOfReach when it cannot be reached; CliError when it cannot be used
 */
export async function useSharedState<T>(
  context: CliContext,
  plan: PostgresPlan,
  opening: { readonly create: boolean },
  use: (state: SharedState) => Promise<T>,
): Promise<T | null> {
  const store = await openDatabase(context, plan, opening);
  if (store === null) return null;
  try {
    if (store.state === null) throw new Error('a database keeps what gateways share');
    return await use(store.state);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new StoreOutOfReach(error.message);
    if (error instanceof StoreRefused) throw refusalOf(error);
    throw error;
  } finally {
    await store.close();
  }
}

/** Brings the home's copy of the subscriptions up to date where gateways share them; nothing elsewhere. */
export async function refreshCopy(context: CliContext, configs: readonly string[] | undefined): Promise<void> {
  const plan = await configuredStore(context, configs).catch((error: unknown) => {
    if (error instanceof UnknownStore) return null;
    throw error;
  });
  if (plan?.kind !== 'postgres') return;
  await (await loadPart(context.modules, 'database')).refreshSubscriptions(context, plan);
}

/** Null where the store is a file of the home. @throws CliError when the database cannot be used */
export async function useSharedText<T>(
  context: CliContext,
  use: (read: () => Promise<SharedText>) => Promise<T>,
): Promise<T | null> {
  const plan = await configuredStore(context);
  if (plan.kind === 'sqlite') return null;
  return (await loadPart(context.modules, 'database')).useSubscriptions(context, plan, use);
}
