/** The store of a server under test. On PostgreSQL, it counts how often its connections wait for the network. */
import { join } from 'node:path';
import type { PgConnect, PgConnection } from '../../modules/cluster/runtime/postgres/driver.ts';
import { loadDriver } from '../../modules/cluster/runtime/postgres/driver.ts';
import { openPostgresStore } from '../../modules/cluster/runtime/postgres/postgres-store.ts';
import { sqliteRescue } from '../../modules/rescue/runtime/rescue.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import type { Store } from '../../runtime/store/contract.ts';
import { openServerStore } from '../../runtime/store/sqlite/open-store.ts';

/** The durability of a SQLite store, or the URL of a database. */
export type BenchStorePlan = 'normal' | 'full' | { readonly postgres: string };

export const BENCH_SCHEMA = 'hookwright';

export interface BenchStore {
  readonly store: Store;
  /** Statements that are sent together, without waiting for each other, count as one. */
  readonly roundTrips: () => number;
}

export async function openBenchStore(
  plan: BenchStorePlan,
  home: string,
  { log, beforeCommit }: { readonly log: Logger; readonly beforeCommit?: () => void },
): Promise<BenchStore> {
  const common = { log, ...(beforeCommit === undefined ? {} : { beforeCommit }) };
  if (typeof plan === 'string') {
    const store = await openServerStore({
      path: join(home, 'state.db'),
      durability: plan,
      rescue: sqliteRescue,
      ...common,
    });
    return { store, roundTrips: () => 0 };
  }
  let count = 0;
  const store = await openPostgresStore({
    url: plan.postgres,
    schema: BENCH_SCHEMA,
    listen: true,
    clock: systemClock,
    ...common,
    node: { url: () => 'http://127.0.0.1', version: 'bench', table: () => null, problem: () => null },
    connect: counting(await loadDriver(), () => count++),
  });
  return { store, roundTrips: () => count };
}

function counting(connect: PgConnect, onRoundTrip: () => void): PgConnect {
  return async (options) => {
    const db = await connect(options);
    let waiting = 0;
    const ask = async <T>(sent: () => Promise<T>): Promise<T> => {
      if (waiting++ === 0) onRoundTrip();
      try {
        return await sent();
      } finally {
        waiting--;
      }
    };
    const counted: PgConnection = {
      ...db,
      get lost() {
        return db.lost;
      },
      query: <R extends object>(...query: Parameters<PgConnection['query']>) => ask(() => db.query<R>(...query)),
      change: (...change) => ask(() => db.change(...change)),
      script: <R extends object>(sql: string) => ask(() => db.script<R>(sql)),
    };
    return counted;
  };
}
