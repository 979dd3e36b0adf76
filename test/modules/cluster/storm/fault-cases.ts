/** The faults of a database: how each begins and ends. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Cluster } from '../../../helpers/postgres/cluster.ts';
import { runSql } from '../../../helpers/postgres/database.ts';
import type { TcpProxy } from '../../../helpers/tcp-proxy.ts';

export interface FaultParts {
  readonly cluster: Cluster;
  /** URL of the gateway's database, without the proxy. */
  readonly url: string;
  readonly proxy: TcpProxy;
  /** The disk of the database's tables alone; null: none could be mounted. */
  readonly disk: string | null;
}

export interface FaultCase {
  readonly name: string;
  /** True: events during the fault are rejected; false: they are only late. Null: either, depending on their wait. */
  readonly refuses: boolean | null;
  readonly needsDisk?: true;
  /** @returns a function that ends it */
  begin(parts: FaultParts): Promise<() => unknown>;
}

const OTHERS = 'pid <> pg_backend_pid() AND datname = current_database()';
const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OTHERS}`;

const setForAll = (url: string, setting: string): Promise<unknown> =>
  runSql(url, `ALTER SYSTEM ${setting}`).then(() => runSql(url, 'SELECT pg_reload_conf()'));

/** Uses every connection of the server. */
async function takeConnections(url: string): Promise<pg.Client[]> {
  const clients: pg.Client[] = [];
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
    } catch {
      return clients;
    }
    clients.push(client);
  }
}

export const FAULT_CASES: readonly FaultCase[] = [
  {
    name: 'restarted',
    refuses: true,
    async begin({ cluster }) {
      cluster.stop('fast');
      return () => cluster.start();
    },
  },
  {
    name: 'killed',
    refuses: true,
    async begin({ cluster }) {
      await cluster.kill();
      return () => cluster.start();
    },
  },
  {
    name: 'slow',
    refuses: false,
    async begin({ proxy }) {
      proxy.delay(10);
      return () => proxy.delay(0);
    },
  },
  {
    name: 'out of connections',
    refuses: true,
    async begin({ url }) {
      const [first, ...others] = await takeConnections(url);
      await first?.query(`${TERMINATE} AND application_name LIKE 'hookwright%'`);
      // The earlier connections of the gateway.
      const more = await takeConnections(url);
      return () => Promise.all([first, ...others, ...more].map((client) => client?.end()));
    },
  },
  {
    name: 'read-only, as after a failover to a standby',
    refuses: true,
    async begin({ url }) {
      await setForAll(url, 'SET default_transaction_read_only = on');
      return () => setForAll(url, 'RESET default_transaction_read_only');
    },
  },
  {
    name: 'on a full disk',
    refuses: true,
    needsDisk: true,
    async begin({ url, disk }) {
      // No page has much room left then.
      await runSql(url, 'VACUUM FULL');
      const file = join(disk ?? '', 'filler');
      for (const size of [2 ** 20, 4096]) {
        try {
          for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
        } catch {
          // It is full.
        }
      }
      return () => rmSync(file);
    },
  },
  {
    name: 'cut off in both directions',
    refuses: null,
    async begin({ proxy }) {
      proxy.cut();
      return () => proxy.heal();
    },
  },
  {
    name: 'cut off on the way there',
    refuses: null,
    async begin({ proxy }) {
      proxy.cut('up');
      return () => proxy.heal();
    },
  },
  {
    name: 'cut off on the way back',
    refuses: null,
    async begin({ proxy }) {
      proxy.cut('down');
      return () => proxy.heal();
    },
  },
];
