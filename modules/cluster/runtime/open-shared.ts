/** Opens the store of a gateway that shares it with others, and keeps the home's subscriptions up to date with it. */
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type { OpenedStore, StoreContext } from '../../../runtime/module.ts';
import type { Clock } from '../../../runtime/platform/clock.ts';
import type { SecretResolver } from '../../../runtime/platform/secrets.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { StoreRefused, StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { Query, QueryResults, StoreOverview } from '../../../runtime/store/queries.ts';
import type { PostgresStorePlan } from '../../../schemas/generated/types.ts';
import { databaseUrl } from './database-url.ts';
import { openPostgresStore } from './postgres/postgres-store.ts';
import { RefusedRows } from './refused-rows.ts';
import type { CopyParts } from './shared-subscriptions.ts';
import { createSeal, SharedSubscriptions } from './shared-subscriptions.ts';
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

/**
 * The dependencies of a copy of the subscriptions, besides the documents. @throws StoreRefused when the key cannot be
 * used
 */
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
      if (lock === null) throw new Error('timed out waiting for another process that is changing the subscriptions');
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

/*
 * Wraps a store that may become unavailable while its gateway runs. `gateway status` and metrics then use the latest
 * overview, and `problem()` says why there is no newer one.
 */

const NOTHING_READ: StoreOverview = {
  tallies: [],
  backlog: { runs: 0, deliveries: 0, deliveries_delayed: 0, groups: 0 },
  oldest_open_at: null,
  last_error: null,
  bytes: 0,
  damage: null,
};

export function keepLatestOverview(store: Store): Store {
  let latest = NOTHING_READ;
  const readOverview = async (query: Query): Promise<StoreOverview> => {
    if (store.problem() !== null) return latest;
    try {
      latest = (await store.read(query)) as StoreOverview;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    return latest;
  };
  return {
    write: (mutation) => store.write(mutation),
    async read<Q extends Query>(query: Q): Promise<QueryResults[Q['kind']]> {
      return query.kind === 'overview' ? ((await readOverview(query)) as QueryResults[Q['kind']]) : store.read(query);
    },
    problem: () => store.problem(),
    shared: store.shared,
    state: store.state,
    close: () => store.close(),
  };
}
