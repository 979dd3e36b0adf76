/** `hookwright store migrate` and `store move`: the tables of a database, and the move into it. */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_PROFILE, PROFILE_NAME, profileHome } from '../../../base/names.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, refusalOf } from '../../../cli/base/errors.ts';
import { choice, command, flag, needed, text } from '../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../cli/command-line/options.ts';
import { isGatewayRunning } from '../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, printNote } from '../../../cli/output/print.ts';
import { createProgress } from '../../../cli/output/prompter.ts';
import { formatTable } from '../../../cli/output/table.ts';
import { tryOpenFile } from '../../../cli/store/use-store.ts';
import { fileSessions } from '../../../runtime/deliver/sessions.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { StoreRefused, StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { GuardKind } from '../../../runtime/store/records.ts';
import type { Connection } from '../../../runtime/store/sqlite/driver.ts';
import { isFinal, SHOWN_STATES } from '../../../runtime/store/states.ts';
import { storePath } from '../../../runtime/store/store-path.ts';
import type { MovedCount, MovedSession, MoveSource } from '../runtime/postgres/import.ts';
import type { Database } from './database.ts';
import { findDatabase, withDatabase } from './database.ts';

/** For commands that use a PostgreSQL database directly. */
const databaseOptions = {
  database: text('env:NAME|file:path', 'URL of the database instead of the configured one'),
  schema: text('name', 'Schema of the tables instead of the configured one'),
  config: configOption,
  json: jsonOption,
};

/** `hookwright store migrate`: creates or migrates the tables on PostgreSQL, as the role that owns them. */
export const storeMigrateCommand = command({
  options: databaseOptions,
  async run(context, given) {
    const database = await findDatabase(context, given);
    const { migrate } = await import('../runtime/postgres/migrate.ts');
    const { from, to } = await withDatabase(database, (db) => migrate(db, database.schema));
    if (given.json) printJson(context, { schema: database.schema, from, to });
    else printLine(context, `schema ${database.schema}: ${describe(from, to)}`);
  },
});

function describe(from: number, to: number): string {
  if (from === to) return `already at version ${to}`;
  return from === 0 ? `created, version ${to}` : `migrated from version ${from} to ${to}`;
}

/** `hookwright store move`: moves the jobs, delivery ids, sessions and rows of the guard of a home into the PostgreSQL database of its configuration. */
export const storeMoveCommand = command({
  options: {
    from: needed(choice(['sqlite'], 'Engine to move from')),
    to: needed(choice(['postgres'], 'Engine to move to')),
    dryRun: flag('Show what would be moved without moving it'),
    ...databaseOptions,
  },
  async run(context, given) {
    const database = await findDatabase(context, given);
    const move = await moveStore(context, database, given.dryRun);
    if (given.json) printJson(context, { ...move, schema: database.schema });
    else print(context, move, database.schema);
  },
});

function print(context: CliContext, { count, outcome, file }: StoreMove, schema: string): void {
  const rows = [
    ['delivery ids', count.claims],
    ['jobs', count.jobs],
    ['sessions', count.sessions],
    ['pauses, budgets, loops, alerts', count.guard],
  ] as const;
  const lines = formatTable(rows, [
    { title: 'WHAT', value: ([kind]) => kind },
    { title: 'COUNT', value: ([, found]) => found, align: 'right' },
  ]);
  for (const line of lines) printLine(context, line);
  printNote(context, `${SAID[outcome]} schema ${schema}`);
  if (outcome !== 'dry run') printNote(context, `the old file is now ${file}`);
}

const SAID: Readonly<Record<StoreMove['outcome'], string>> = {
  moved: 'moved to PostgreSQL,',
  already: 'already moved to PostgreSQL,',
  'dry run': 'dry run: nothing moved; the store can be moved to PostgreSQL,',
};

export interface StoreMove {
  readonly count: MovedCount;
  /** `already`: an earlier call moved it, but was interrupted before it renamed the file. */
  readonly outcome: 'moved' | 'already' | 'dry run';
  /** Path of the file afterwards. */
  readonly file: string;
}

const SLICE_CLAIMS = 5000;
const NO_LIMITS =
  'SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0';

/**
 * All or nothing. @throws CliError when a gateway runs, work is pending, there is nothing to move, or the database
 * rejects it
 */
export async function moveStore(context: CliContext, database: Database, isDryRun: boolean): Promise<StoreMove> {
  const path = storePath(context.home);
  if (await isGatewayRunning(context)) {
    throw new CliError('a gateway serves this home', 'stop it first: hookwright gateway stop');
  }
  if (!existsSync(path)) throw new CliError(`nothing to move: ${path} does not exist`);
  const sessions = await readSessions(context.home);
  const { count, outcome } = await withFile(context, path, async (store, db) => {
    await refuseOpenWork(store, context.clock.now());
    const source: MoveSource = {
      id: idOf(db),
      jobs: await store.read({ kind: 'jobs' }),
      sessions,
      guard: guardIn(db),
      claims: () => claimsIn(db),
    };
    const claims = db.query<[number]>('SELECT count(*) FROM claim').get()?.[0] ?? 0;
    const count = { claims, jobs: source.jobs.records.length, sessions: sessions.length, guard: source.guard.length };
    return {
      count,
      outcome: await (isDryRun ? tryMove(database, source) : moveInto(context, database, source, count)),
    };
  });
  return { count, outcome, file: outcome === 'dry run' ? path : renameMoved(path, context.clock.now()) };
}

/** The sessions that are files of the home and its profiles. */
async function readSessions(home: string): Promise<readonly MovedSession[]> {
  const folder = join(home, 'profiles');
  const named = existsSync(folder) ? readdirSync(folder).filter((name) => PROFILE_NAME.test(name)) : [];
  const files = fileSessions((profile) => profileHome(home, profile));
  const found: MovedSession[] = [];
  for (const profile of [DEFAULT_PROFILE, ...named]) {
    for (const { target, chat_id, changed_at } of await files.list(profile)) {
      const chat = { profile, target, chatId: chat_id };
      found.push({ ...chat, changed_at, turns: (await files.read(chat)) ?? [] });
    }
  }
  return found;
}

/** Opens the file exclusively. */
async function withFile<T>(
  context: CliContext,
  path: string,
  use: (store: Store, db: Connection) => Promise<T>,
): Promise<T> {
  const { openWriting } = await import('../../../runtime/store/sqlite/open-database.ts');
  const { connect } = await import('../../../runtime/store/sqlite/driver.ts');
  try {
    const store = await tryOpenFile(context);
    if (store === null)
      throw new CliError(`another process has ${path} open`, 'wait until that process ends, or stop it');
    try {
      const db = openWriting(connect, path, 'full');
      try {
        return await use(store, db);
      } finally {
        db.close();
      }
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreRefused || error instanceof StoreUnavailable) throw refusalOf(error);
    throw error;
  }
}

/** @throws CliError */
async function refuseOpenWork(store: Store, now: number): Promise<void> {
  const { tallies } = await store.read({ kind: 'overview', now });
  const states = SHOWN_STATES.filter((state) => !isFinal(state));
  const open = tallies.reduce((sum, tally) => states.reduce((count, state) => count + tally[state], sum), 0);
  if (open === 0) return;
  throw new CliError(
    `${open} ${open === 1 ? 'dispatch is' : 'dispatches are'} not finished, and pending work cannot be moved`,
    'start the gateway on this store, and stop it when `hookwright deliveries list` shows no pending work',
  );
}

/** The id of the store; assigned when it is first moved. */
function idOf(db: Connection): string {
  db.change("INSERT OR IGNORE INTO meta VALUES ('store_id', ?)")(randomUUID());
  return db.query<[string]>("SELECT value FROM meta WHERE key = 'store_id'").get()?.[0] ?? '';
}

// Without references to dispatches, which are not moved: starts of sessions, and the runs that a key holds.
const GUARD =
  "SELECT id, kind, key, iif(kind = 'runs', json_remove(body, '$.held'), body), expires_at FROM guard_state " +
  "WHERE kind <> 'session'";

const guardIn = (db: Connection): MoveSource['guard'] =>
  db
    .query<[string, GuardKind, string, string, number | null]>(GUARD)
    .all()
    .map(([id, kind, key, body, expires_at]) => ({ id, kind, key, body, expires_at }));

function* claimsIn(db: Connection): ReturnType<MoveSource['claims']> {
  const sql = `SELECT key, expires_at FROM claim WHERE key > ? ORDER BY key LIMIT ${SLICE_CLAIMS}`;
  const rows = db.query<[key: string, expiresAt: number]>(sql);
  for (let slice = rows.all(''); slice.length > 0; slice = rows.all(slice.at(-1)?.[0] ?? '')) {
    yield slice.map(([key, expires_at]) => ({ key, expires_at }));
  }
}

async function moveInto(
  context: CliContext,
  database: Database,
  source: MoveSource,
  count: MovedCount,
): Promise<'moved' | 'already'> {
  const { migrate } = await import('../runtime/postgres/migrate.ts');
  const { transact, beginOf } = await import('../runtime/postgres/transact.ts');
  const { checkEmpty, importStore } = await import('../runtime/postgres/import.ts');
  const bar = createProgress(context, count.claims, 'delivery ids');
  try {
    return await withDatabase(database, async (db) => {
      await migrate(db, database.schema);
      return transact(db, `${beginOf(`"${database.schema}"`)}; ${NO_LIMITS}`, async () => {
        if ((await checkEmpty(db, source.id)) === 'moved') return 'already';
        compare(count, await importStore(db, source, (done) => bar.update(done)));
        return 'moved';
      });
    });
  } finally {
    bar.end();
  }
}

/** Checks whether the database could accept it, without changes. */
async function tryMove(database: Database, source: MoveSource): Promise<'dry run' | 'already'> {
  const { versionFor } = await import('../runtime/postgres/migrate.ts');
  const { transact, beginOf } = await import('../runtime/postgres/transact.ts');
  const { checkEmpty } = await import('../runtime/postgres/import.ts');
  return withDatabase(database, async (db) => {
    // Without tables, nothing can conflict.
    if ((await versionFor(db, database.schema)) === null) return 'dry run';
    const found = await transact(db, beginOf(`"${database.schema}"`), () => checkEmpty(db, source.id));
    return found === 'moved' ? 'already' : 'dry run';
  });
}

/** @throws StoreRefused, so that nothing is committed */
function compare(expected: MovedCount, stored: MovedCount): void {
  const off = (Object.keys(expected) as (keyof MovedCount)[]).filter((kind) => expected[kind] !== stored[kind]);
  if (off.length === 0) return;
  const found = off.map((kind) => `${kind}: ${expected[kind]} in the file, ${stored[kind]} in the database`);
  throw new StoreRefused(`nothing was moved, because the counts differ\n${found.join('\n')}`);
}

/** Renames the file, so that no gateway starts from it again. @returns its new path */
function renameMoved(path: string, now: number): string {
  const movedPath = existsSync(`${path}.moved`) ? `${path}.moved-${now}` : `${path}.moved`;
  for (const end of ['-wal', '-shm', '-wal.id', '.id', ''])
    if (existsSync(path + end)) renameSync(path + end, movedPath + end);
  return movedPath;
}
