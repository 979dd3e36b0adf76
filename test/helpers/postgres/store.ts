/** Stores on PostgreSQL for tests, opened as a gateway opens them. */

import type { PgConnect } from '../../../modules/cluster/runtime/postgres/driver.ts';
import { loadDriver } from '../../../modules/cluster/runtime/postgres/driver.ts';
import type { PostgresOptions } from '../../../modules/cluster/runtime/postgres/postgres-store.ts';
import { openPostgresStore } from '../../../modules/cluster/runtime/postgres/postgres-store.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { STORE_PARTS } from '../rescued-store.ts';
import { runSql } from './database.ts';

export const openTestStore = (url: string, schema: string, overrides: Partial<PostgresOptions> = {}): Promise<Store> =>
  openPostgresStore({
    ...{ url, schema, listen: true, clock: systemClock, log: silentLog, parts: STORE_PARTS },
    node: { url: () => 'http://127.0.0.1:1', version: '0.0.0', table: () => 'hash', problem: () => null },
    ...overrides,
  });

/** A store whose connections can be cut as the death of its process would cut them. */
export async function openMortalStore(
  url: string,
  schema: string,
): Promise<{ readonly store: Store; readonly kill: () => Promise<void> }> {
  const connectReal = await loadDriver();
  const pids: number[] = [];
  let isDead = false;
  const connect: PgConnect = async (options) => {
    if (isDead) throw new Error('the process is dead');
    const db = await connectReal(options);
    const [row] = await db.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    pids.push(row?.pid ?? 0);
    return db;
  };
  const store = await openTestStore(url, schema, { connect });
  return {
    store,
    async kill() {
      isDead = true;
      // Waits until they have ended: a change in progress is made before that or not at all.
      await runSql(url, `SELECT pg_terminate_backend(pid, 60000) FROM unnest('{${pids.join()}}'::integer[]) AS pid`);
      await store.close();
      // To the others, a gateway has ended when its lease has ended.
      await runSql(url, `UPDATE ${schema}.node SET until = '-infinity'`);
    },
  };
}
