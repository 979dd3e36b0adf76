/** The store of a process that dies at a point within a commit, on either engine. */
import { join } from 'node:path';
import type { PgConnect } from '../../modules/cluster/runtime/postgres/driver.ts';
import { loadDriver } from '../../modules/cluster/runtime/postgres/driver.ts';
import { startEntry } from '../../runtime/platform/process/threads.ts';
import type { Store } from '../../runtime/store/contract.ts';
import type { CommitPoint } from '../../runtime/store/sqlite/writer.ts';
import { silentLog } from '../helpers/log.ts';
import { openTestStore } from '../helpers/postgres/store.ts';
import { openServerStore } from '../helpers/rescued-store.ts';
import type { KillingWriter } from './killing-writer.ts';
import type { ChildOptions } from './protocol.ts';

/** @param reached on PostgreSQL, called at each point of a commit; SQLite's thread kills the process itself */
export async function openCrashStore(
  { home, kill, database }: ChildOptions,
  reached: (point: `commit.${CommitPoint}`) => void,
): Promise<Store> {
  if (database !== null) return openTestStore(database.url, database.schema, { connect: await watchCommits(reached) });
  const path = join(home, 'state.db');
  const options: KillingWriter = { path, kill };
  const writer = () => startEntry(new URL('./killing-writer.js', import.meta.url), options);
  return openServerStore({ path, durability: 'full', log: silentLog, writer });
}

/** Connections that report the commits of groups. */
async function watchCommits(reached: (point: `commit.${CommitPoint}`) => void): Promise<PgConnect> {
  const connect = await loadDriver();
  return async (options) => {
    const db = await connect(options);
    let isGroup = false;
    return {
      ...db,
      get lost() {
        return db.lost;
      },
      async script<R extends object>(sql: string): Promise<readonly R[]> {
        if (sql.includes('SET batch')) isGroup = true;
        else if (sql !== 'COMMIT' || !isGroup) return db.script<R>(sql);
        else reached('commit.applied');
        const rows = await db.script<R>(sql);
        reached(sql === 'COMMIT' ? 'commit.committed' : 'commit.begun');
        if (sql === 'COMMIT') isGroup = false;
        return rows;
      },
    };
  };
}
