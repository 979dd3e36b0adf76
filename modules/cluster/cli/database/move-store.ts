/** Moves what a home keeps in its file of SQLite into a PostgreSQL database: all of it, or nothing. */
import { randomUUID } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError, refusalOf } from '../../../../cli/base/errors.ts';
import { isGatewayThere } from '../../../../cli/gateway/ask-gateway.ts';
import { createProgress } from '../../../../cli/output/progress.ts';
import { StoreRefused, StoreUnavailable } from '../../../../runtime/store/store.ts';
import { storePath } from '../../../../runtime/store/store-path.ts';
import { capturePath } from '../../../workbench/runtime/capture/capture-path.ts';
import type { MovedCount, MoveSource } from '../../runtime/moved-rows.ts';
import type { Database } from './find-database.ts';
import { withDatabase } from './find-database.ts';
import type { StoredRequests } from './stored-requests.ts';
import { storedRequests } from './stored-requests.ts';
import type { StoredSessions } from './stored-sessions.ts';
import { storedSessions } from './stored-sessions.ts';

export interface StoreMove {
  readonly count: MovedCount & { readonly sessions: number; readonly requests: number };
  /** `already`: an earlier call moved it, but was interrupted before it renamed the file. */
  readonly outcome: 'moved' | 'already' | 'dry run';
  /** Path of the file afterwards. */
  readonly file: string;
  /** The same for the kept requests; null if there are none. */
  readonly requests_file: string | null;
}

const NO_LIMITS =
  'SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0';

/** @throws CliError where a gateway serves, where there is nothing to move, or where the database cannot take it */
export async function moveStore(context: CliContext, database: Database, isDryRun: boolean): Promise<StoreMove> {
  const path = storePath(context.home);
  if (await isGatewayThere(context)) {
    throw new CliError('a gateway serves this home', 'stop it first: hookwright gateway stop');
  }
  if (!existsSync(path)) throw new CliError(`there is nothing to move: ${path} does not exist`);
  const sessions = await storedSessions(context.home);
  const requests = await storedRequests(context.home);
  const move = await withFile(context, path, async (source) => ({
    count: countOf({ source, sessions, requests }),
    outcome: isDryRun
      ? await tryMove(database, source)
      : await moveInto(context, database, { source, sessions, requests }),
  }));
  const pathAfter = (before: string): string =>
    move.outcome === 'dry run' ? before : setAside(before, context.clock.now());
  const kept = capturePath(context.home);
  // The store's file is last: where it still is, the command can be run again.
  return { ...move, requests_file: existsSync(kept) ? pathAfter(kept) : null, file: pathAfter(path) };
}

/** Opens the file exclusively, and makes the work that a killed gateway held due again. */
async function withFile<T>(context: CliContext, path: string, use: (source: MoveSource) => Promise<T>): Promise<T> {
  const { tryOpenOfflineStore } = await import('../../../../runtime/store/sqlite/open-store.ts');
  const { openExport } = await import('../../runtime/export.ts');
  try {
    const store = await tryOpenOfflineStore(path);
    if (store === null) throw new CliError(`another process has ${path}`, 'wait until it has ended, or end it');
    try {
      const under_way = { runs: [], attempts: [] };
      await store.write({ kind: 'recover', holder: 'store move', now: context.clock.now(), under_way });
      const source = openExport(path, randomUUID());
      try {
        return await use(source);
      } finally {
        source.close();
      }
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreRefused || error instanceof StoreUnavailable) throw refusalOf(error);
    throw error;
  }
}

interface MovedParts {
  readonly source: MoveSource;
  readonly sessions: StoredSessions;
  readonly requests: StoredRequests;
}

const countOf = ({ source, sessions, requests }: MovedParts): StoreMove['count'] => ({
  ...source.count,
  sessions: sessions.count,
  requests: requests.count,
});

async function moveInto(context: CliContext, database: Database, parts: MovedParts): Promise<'moved' | 'already'> {
  const { source, sessions, requests } = parts;
  const [{ migrate }, { transact, beginOf }, { checkEmpty, importStore }, rest, { addRequests }] = await Promise.all([
    import('../../runtime/postgres/migrate.ts'),
    import('../../runtime/postgres/transact.ts'),
    import('../../runtime/postgres/import.ts'),
    import('../../runtime/postgres/import-sessions.ts'),
    import('../../runtime/postgres/pg-requests.ts'),
  ]);
  const total = Object.values(source.count).reduce((sum, count) => sum + count, 0);
  const bar = createProgress(context, total, 'rows');
  try {
    return await withDatabase(database, async (db) => {
      await migrate(db, database.schema);
      return transact(db, `${beginOf(`"${database.schema}"`)}; ${NO_LIMITS}`, async () => {
        if ((await checkEmpty(db, source.id)) === 'moved') return 'already';
        const stored = await importStore(db, source, (done) => bar.update(done));
        const moved = { ...stored, sessions: await rest.importSessions(db, sessions.read()), requests: 0 };
        for await (const page of requests.read()) {
          moved.requests += await addRequests(page, (sql, rows) => db.query(sql, [rows]));
        }
        compare(countOf(parts), moved);
        return 'moved';
      });
    });
  } finally {
    bar.end();
  }
}

/** Checks whether the database could accept it, without changes. */
async function tryMove(database: Database, source: MoveSource): Promise<'dry run' | 'already'> {
  const [{ versionFor }, { transact, beginOf }, { checkEmpty }] = await Promise.all([
    import('../../runtime/postgres/migrate.ts'),
    import('../../runtime/postgres/transact.ts'),
    import('../../runtime/postgres/import.ts'),
  ]);
  return withDatabase(database, async (db) => {
    // Without tables nothing can be in the way.
    if ((await versionFor(db, database.schema)) === null) return 'dry run';
    const found = await transact(db, beginOf(`"${database.schema}"`), () => checkEmpty(db, source.id));
    return found === 'moved' ? 'already' : 'dry run';
  });
}

/** @throws StoreRefused, so that nothing is committed */
function compare(expected: StoreMove['count'], stored: StoreMove['count']): void {
  const off = (Object.keys(expected) as (keyof StoreMove['count'])[]).filter((kind) => expected[kind] !== stored[kind]);
  if (off.length === 0) return;
  const found = off.map((kind) => `${kind}: ${expected[kind]} in the file, ${stored[kind]} in the database`);
  throw new StoreRefused(`the counts differ, and nothing was moved\n${found.join('\n')}`);
}

/** Renames the file, so that no gateway resumes the same work from it. @returns its new path */
function setAside(path: string, now: number): string {
  const kept = existsSync(`${path}.moved`) ? `${path}.moved-${now}` : `${path}.moved`;
  for (const end of ['-wal', '-shm', '']) if (existsSync(path + end)) renameSync(path + end, kept + end);
  return kept;
}
