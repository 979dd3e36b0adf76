/** Opens the store of a gateway that shares it with others, and keeps the home's subscriptions up to date with it. */
import { join } from 'node:path';
import { messageOf } from '../../../base/message-of.ts';
import type { OpenedStore, StoreContext } from '../../../runtime/module.ts';
import type { Clock } from '../../../runtime/platform/clock.ts';
import type { SecretResolver } from '../../../runtime/platform/secrets/secrets.ts';
import { StoreRefused } from '../../../runtime/store/store.ts';
import type { PostgresStorePlan } from '../../../schemas/generated/types.ts';
import { databaseUrl } from './database-url.ts';
import { keepLatestOverview } from './latest-overview.ts';
import { openPostgresStore } from './postgres/open-postgres.ts';
import { RefusedRows } from './refused-rows.ts';
import { createSeal } from './seal.ts';
import type { CopyParts } from './shared-subscriptions.ts';
import { SharedSubscriptions } from './shared-subscriptions.ts';
import { byMachineClock } from './shift-instants.ts';

/** How long to wait for another writer of the copy, in ms. */
const LOCK_MS = 60_000;

/** Rejects with StoreRefused when the store cannot be used. While the database is unavailable, the previous copy is served. */
export async function openSharedStore(
  context: StoreContext,
  plan: PostgresStorePlan,
  secrets: SecretResolver,
): Promise<OpenedStore> {
  const { schema, listen } = plan;
  const url = databaseUrl(plan.url, secrets);
  const refused = new RefusedRows();
  const copy = copyParts(context, plan, secrets);
  const problem = (): string | null => context.node.problem() ?? refused.all[0] ?? null;
  const node = { ...context.node, problem };
  const opened = await openPostgresStore({ ...context, node, url, schema, listen, refused });
  const subscriptions = new SharedSubscriptions(
    { ...copy, documents: opened.state.documents },
    { ...context, refused },
  );
  const started = subscriptions.start();
  if (opened.problem() === null) await started;
  const store = {
    ...keepLatestOverview(opened),
    close: () => {
      subscriptions.stop();
      return opened.close();
    },
  };
  return {
    store,
    forCallers: byMachineClock(store, () => context.clock.offset),
    isPending: (path) => subscriptions.isPending(path),
  };
}

/** What a copy of the subscriptions needs besides the documents. @throws StoreRefused when the key cannot be used */
export function copyParts(
  { home, clock }: { readonly home: string; readonly clock: Clock },
  { key }: PostgresStorePlan,
  secrets: SecretResolver,
): Omit<CopyParts, 'documents'> {
  return {
    path: join(home, 'webhook_subscriptions.json'),
    seal: key === null ? null : usable(() => createSeal(secrets.resolve(key))),
    async lock() {
      const { waitForLock } = await import('../../../runtime/store/sqlite/file-lock.ts');
      const lock = await waitForLock(join(home, 'run', 'subscriptions.lock'), LOCK_MS, clock);
      if (lock === null) throw new Error('another process is changing the subscriptions and does not finish');
      return lock;
    },
  };
}

function usable<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new StoreRefused(messageOf(error));
  }
}
