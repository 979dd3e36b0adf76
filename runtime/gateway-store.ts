/** Opens the store that a table names. The PostgreSQL engine is loaded only when it is configured. */

import { databaseUrl } from '../modules/cluster/runtime/database-url.ts';
import type { NodeIdentity } from '../modules/cluster/runtime/postgres/open-postgres.ts';
import type { RouteTable } from '../schemas/generated/types.ts';
import type { Clock } from './platform/clock.ts';
import type { Logger } from './platform/log.ts';
import type { SecretResolver } from './platform/secrets/secrets.ts';
import type { SharedClock } from './platform/shared-clock.ts';
import { keepLatestOverview } from './store/latest-overview.ts';
import { openServerStore } from './store/sqlite/open-store.ts';
import type { Store } from './store/store.ts';
import { storePath } from './store/store-path.ts';

export interface StoreContext {
  readonly home: string;
  readonly clock: Clock;
  /** Called with the time of a shared database, which all its gateways follow. */
  readonly follow: SharedClock['follow'];
  readonly log: Logger;
  /** Writes buffered log lines, before the change that they report is stored. */
  readonly flushLog: () => void;
  /** What other gateways of the same store see of this one. */
  readonly node: NodeIdentity;
}

/** Rejects with StoreRefused when the store cannot be used. A store that cannot be reached still opens. */
export async function openStore(
  { home, clock, follow, log, flushLog, node }: StoreContext,
  { gateway }: RouteTable,
  secrets: SecretResolver,
): Promise<Store> {
  const { store: plan, durability } = gateway;
  const common = { log, beforeCommit: flushLog };
  if (plan.kind === 'sqlite') return openServerStore({ path: storePath(home), durability, ...common });
  const url = databaseUrl(plan.url, secrets);
  const { openPostgresStore } = await import('../modules/cluster/runtime/postgres/open-postgres.ts');
  return keepLatestOverview(
    await openPostgresStore({
      url,
      schema: plan.schema,
      listen: plan.listen,
      node,
      clock,
      follow,
      ...common,
    }),
  );
}
