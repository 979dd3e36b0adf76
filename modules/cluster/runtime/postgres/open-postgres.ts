/** Opens the store on PostgreSQL that several gateways share (decisions in docs/architecture.md, "The store on PostgreSQL"). */
import type { NodeIdentity } from '../../../../runtime/module.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { Logger } from '../../../../runtime/platform/log.ts';
import type { SharedClock } from '../../../../runtime/platform/shared-clock.ts';
import { RefusedRows } from '../refused-rows.ts';
import type { PgConnect, PgConnection } from './driver.ts';
import { loadDriver } from './driver.ts';
import { migrate, quoteSchema } from './migrate.ts';
import { channelOf, OtherNodes } from './other-nodes.ts';
import { PostgresStore } from './postgres-store.ts';
import { SnapshotReader } from './snapshot.ts';
import { beginLaxOf, beginOf, beginReadOf } from './transact.ts';
import { PgWriter } from './writer.ts';

export interface PostgresOptions {
  /** A libpq URL. Never logged. */
  readonly url: string;
  readonly schema: string;
  /** False behind a pooler in transaction mode: no LISTEN and no prepared statements, and changes are found by polling. */
  readonly listen: boolean;
  /** Where invalid rows are noted. Default: nowhere. */
  readonly refused?: RefusedRows;
  readonly node: NodeIdentity;
  readonly clock: Clock;
  /** Called with the time of the database, which all gateways follow. Default: does nothing. */
  readonly follow?: SharedClock['follow'];
  readonly log: Logger;
  /** Called before a change that records something is sent, so that its log lines are written first. */
  readonly beforeCommit?: () => void;
  /** Default: the driver's. */
  readonly connect?: PgConnect;
}

/**
 * Opens the store, after creating or migrating its tables. If the database cannot be reached, the store still opens:
 * `problem()` reports that it is unavailable, and it recovers once the database does. Rejects with StoreRefused when `pg`
 * is not installed, or this version cannot use the tables.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const {
    url,
    schema,
    listen,
    refused = new RefusedRows(),
    node,
    clock,
    log,
    beforeCommit,
    follow = () => {},
  } = options;
  const quoted = quoteSchema(schema);
  const connect = options.connect ?? (await loadDriver());
  let isMigrated = false;
  const connectWriter = async (ended: () => void): Promise<PgConnection> => {
    const db = await connect({ url, name: 'hookwright', prepare: listen, ended });
    try {
      if (!isMigrated) await migrate(db, schema);
      isMigrated = true;
      return db;
    } catch (error) {
      void db.close().catch(() => {});
      throw error;
    }
  };
  const channel = listen ? channelOf(schema) : null;
  const connectReader = async (): Promise<PgConnection> => {
    const db = await connect({ url, name: 'hookwright reader', prepare: listen, notified: (from) => notified(from) });
    if (channel !== null) await db.script(`LISTEN "${channel}"`);
    return db;
  };
  const reader = new SnapshotReader(connectReader, beginReadOf(quoted));
  const connectCounter = (): Promise<PgConnection> => connect({ url, name: 'hookwright counter', prepare: listen });
  const counter = new SnapshotReader(connectCounter, beginLaxOf(quoted));
  const connectState = (): Promise<PgConnection> => connect({ url, name: 'hookwright state', prepare: listen });
  const state = new SnapshotReader(connectState, beginOf(quoted));
  const connectRequests = (): Promise<PgConnection> => connect({ url, name: 'hookwright requests', prepare: listen });
  const requests = new SnapshotReader(connectRequests, beginLaxOf(quoted));
  let notified = (_: string): void => {};
  const store = new PostgresStore({
    table: node.table,
    writer: (lost) => new PgWriter({ connect: connectWriter, begin: beginOf(quoted), node, clock, follow, lost }),
    others: (node) => {
      const others = new OtherNodes({ reader, clock, channel, node });
      notified = (from) => others.notified(from);
      return others;
    },
    reader,
    counter,
    state,
    requests,
    refused,
    clock,
    log,
    beforeCommit,
  });
  try {
    await store.open();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
