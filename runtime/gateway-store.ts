/** Opens the store that a table names: a file of the home, or one that a module opens. */
import type { RouteTable } from '../schemas/generated/types.ts';
import type { OpenedStore, RuntimePart, StoreContext } from './module.ts';
import type { SecretResolver } from './platform/secrets/secrets.ts';
import { openServerStore } from './store/sqlite/open-store.ts';
import { StoreRefused } from './store/store.ts';
import { storePath } from './store/store-path.ts';

/** Rejects with StoreRefused when the store cannot be used. A store that cannot be reached still opens. */
export async function openStore(
  { modules, ...context }: StoreContext & { readonly modules: readonly RuntimePart[] },
  { gateway: { store: plan, durability } }: RouteTable,
  secrets: SecretResolver,
): Promise<OpenedStore> {
  if (plan.kind === 'sqlite') {
    const { home, log, beforeCommit } = context;
    const store = await openServerStore({ path: storePath(home), durability, log, beforeCommit });
    return { store, forCallers: store, isPending: () => false };
  }
  const part = modules.find(({ store }) => store?.kind === plan.kind)?.store;
  if (part === undefined || part === null)
    throw new StoreRefused(`gateway.store: no module of this program opens a ${plan.kind} store`);
  return (await part.load())(context, plan, secrets);
}
