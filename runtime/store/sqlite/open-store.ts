/** Opens the SQLite store: for the one server of a home, and for a command while no server runs. */
import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../platform/clock.ts';
import { describeDiskError } from '../../platform/describe-disk-error.ts';
import type { Logger } from '../../platform/log.ts';
import { startEntry } from '../../platform/process/start-thread.ts';
import type { JobRecord } from '../job-mutations.ts';
import type { Store } from '../store.ts';
import { StoreRefused, StoreUnavailable } from '../store.ts';
import { lockPath } from '../store-path.ts';
import { connect } from './driver.ts';
import type { FileLock } from './file-lock.ts';
import { tryLock, waitForLock } from './file-lock.ts';
import { lockHolder } from './lock-holder.ts';
import type { Durability } from './open-database.ts';
import { createJobQueries } from './read-jobs.ts';
import { Reader } from './reader.ts';
import { FORMAT, formatOf } from './schema.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { StoreThreadData } from './store-thread.ts';
import type { StartThread } from './thread.ts';
import { inlineClient, ThreadClient } from './thread.ts';
import { Writer } from './writer.ts';

export type { Durability };

export interface ServerStoreOptions {
  /** Path of the database file. */
  readonly path: string;
  /** `full`: acknowledged survives a loss of power. `normal`: it survives the end of the process. */
  readonly durability: Durability;
  readonly log: Logger;
  /** Called before a change that records an event is handed over: its log lines must be written first. */
  readonly beforeCommit?: () => void;
  /** Starts the writer thread; default: the shipped one. */
  readonly writer?: StartThread;
}

/** How long commands, and a server that starts, wait for each other, in ms. */
const LOCK_MS = 15_000;

/**
 * Opens the store for the one server of a home, creating, migrating and repairing it first; waits while a command has it.
 * When the medium is full, read-only or failing the store opens all the same: it is unavailable, as `problem()` says, and
 * recovers by itself once the medium does.
 * @throws StoreRefused when another server has it, or the file is none that this version can use.
 */
export async function openServerStore({ path, durability, log, ...options }: ServerStoreOptions): Promise<Store> {
  const thread = (role: StoreThreadData['role']): StartThread => {
    const data: StoreThreadData = { role, path, durability };
    return () => startEntry(new URL('./store-thread.js', import.meta.url), data);
  };
  const onDeath = (reason: string): void => log.error({ reason }, 'a thread of the store has died');
  const store = new SqliteStore({
    path,
    writer: new ThreadClient(options.writer ?? thread('writer'), onDeath),
    reader: new ThreadClient(thread('reader'), onDeath),
    checker: new ThreadClient(thread('reader'), onDeath),
    log,
    beforeCommit: options.beforeCommit,
    lock: () => lockStore(path),
    now: Date.now,
  });
  await opened(store);
  store.startUpkeep();
  return store;
}

/**
 * Opens the store for a command while no server has it, creating and migrating it when need be. Holds the store's lock
 * until it is closed; waits while another command does.
 * @throws StoreRefused when a server keeps it, or when it is none that this version can use; StoreUnavailable when the
 *   medium fails.
 */
export const openOfflineStore = (path: string): Promise<Store> => openInline(path, () => lockStore(path));

/** The same without waiting: null while another process has the store. */
export async function tryOpenOfflineStore(path: string): Promise<Store | null> {
  let lock: FileLock | null;
  try {
    lock = tryLock(lockPath(path));
  } catch (error) {
    throw new StoreUnavailable(`cannot open ${path}: ${describeDiskError(error)}`);
  }
  return lock === null ? null : openInline(path, async () => lock);
}

/**
 * The jobs in the file alone, read without a lock and without the writes that opening a database makes: what was changed
 * just before a kill is missing.
 * @throws when the file cannot be read
 */
export function readJobsUnopened(path: string): readonly JobRecord[] {
  const db = connect(`${pathToFileURL(path)}?immutable=1`, { busyMs: 0 });
  try {
    if (formatOf(db) > FORMAT) throw new StoreRefused(`${path} was written by a newer hookwright`);
    return createJobQueries(db).jobs({ kind: 'jobs' }).records;
  } finally {
    db.close();
  }
}

/** The same where nothing can be missing; null while the file has a log, or changes, or when it cannot be read. */
export function readClosedJobs(path: string): readonly JobRecord[] | null {
  try {
    const before = closedStateOf(path);
    const jobs = before === null ? null : readJobsUnopened(path);
    return closedStateOf(path) === before ? jobs : null;
  } catch {
    return null;
  }
}

/** Differs after every change of the file; null while a log stands beside it. */
function closedStateOf(path: string): string | null {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return null;
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

async function openInline(path: string, lock: () => Promise<FileLock>): Promise<Store> {
  const writer = new Writer({ path, durability: 'full' });
  const reader = new Reader({ path });
  const silent = (): void => {};
  const store = new SqliteStore({
    path,
    writer: inlineClient((request) => writer.serve(request)),
    reader: inlineClient((request) => reader.serve(request)),
    checker: null,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    beforeCommit: undefined,
    lock,
    now: Date.now,
  });
  await opened(store);
  const problem = store.problem();
  if (problem === null) return store;
  await store.close();
  throw new StoreUnavailable(problem.message);
}

async function opened(store: SqliteStore): Promise<void> {
  try {
    await store.open();
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The operating system's lock: it ends with the process that holds it. */
async function lockStore(path: string): Promise<FileLock> {
  const lock = await waitForLock(lockPath(path), LOCK_MS, systemClock);
  if (lock !== null) return lock;
  const pid = lockHolder(lockPath(path));
  const who = pid === null ? 'another process' : `another process (pid ${pid})`;
  throw new StoreRefused(`${path} is in use by ${who}: stop that one first`);
}
