/** Opens the store on PostgreSQL that several gateways share (decisions in docs/architecture.md, "The store on PostgreSQL"). */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Store } from '../store.ts';
import { StoreRefused } from '../store.ts';
import { loadDriver } from './driver.ts';
import { migrate } from './schema.ts';

/** How a node shows to the others (`gateway status --all`). */
export interface NodeIdentity {
  /** Where this gateway is reached. */
  readonly url: string;
  /** Of this program. */
  readonly version: string;
  /** Hash of the table in service; read at each renewal of the lease. */
  readonly table: () => string | null;
  /** What keeps this node from serving what the others serve; null: nothing. */
  readonly problem: () => string | null;
}

export interface PostgresOptions {
  /** A libpq URL. Never logged. */
  readonly url: string;
  readonly schema: string;
  /** False behind a pooler in transaction mode: no LISTEN and no prepared statements; changes are noticed by polling. */
  readonly listen: boolean;
  readonly node: NodeIdentity;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called before a change of what has happened is handed over: its log lines must have left the process by then. */
  readonly beforeCommit?: () => void;
}

/**
 * Opens the store, creating and migrating its tables first. Where the database cannot be reached it opens all the same:
 * it is unavailable, as `problem()` says, and goes on by itself.
 * @throws StoreRefused when `pg` is not installed, or the tables are not of this version
 */
export async function openPostgresStore({ url, schema, listen }: PostgresOptions): Promise<Store> {
  const connect = await loadDriver();
  const db = await connect({ url, name: 'hookwright', prepare: listen });
  await migrate(db, schema);
  await db.close();
  throw new StoreRefused('gateway.store: postgres is not complete in this version');
}
