/** Opens the SQLite store: for the server of a home, or for a command while no server runs. */
import { statSync, utimesSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../platform/clock.ts';
import { describeDiskError } from '../../platform/files.ts';
import type { Logger } from '../../platform/log.ts';
import { beforeExit, startEntry } from '../../platform/process/threads.ts';
import type { Store } from '../contract.ts';
import { StoreRefused, StoreUnavailable } from '../contract.ts';
import type { JobRecord } from '../records.ts';
import type { StorePart } from '../store-part.ts';
import { lockHolder, lockPath, servedPath } from '../store-path.ts';
import { connect } from './driver.ts';
import type { FileLock } from './file-lock.ts';
import { tryLock, waitForLock } from './file-lock.ts';
import type { Durability } from './open-database.ts';
import { createJobQueries, Reader } from './read.ts';
import type { Rescue } from './rescue.ts';
import { FORMAT, formatOf } from './schema.ts';
import type { StoreThreadData } from './serve-store.ts';
import type { StoreParts } from './sqlite-store.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { StartThread } from './thread.ts';
import { inlineClient, ThreadClient } from './thread.ts';
import type { WriterOptions } from './writer.ts';
import { Writer } from './writer.ts';

export type { Durability };

export interface ServerStoreOptions {
  /** Path of the database file. */
  readonly path: string;
  /** `full`: an acknowledged event survives a power loss. `normal`: it survives the end of the process. */
  readonly durability: Durability;
  readonly log: Logger;
  /** Default: none. */
  readonly rescue?: Rescue | null;
  /** What modules bring to its changes; default: nothing. */
  readonly parts?: readonly StorePart[];
  /** Called before a change that records something is sent, so that its log lines are written first. */
  readonly beforeCommit?: () => void;
  /** Called with the reason once a thread of the store has ended: nothing can be stored any more. */
  readonly failed?: (reason: string) => void;
  /** Starts the writer thread; default: the shipped one. */
  readonly writer?: StartThread;
}

/** What modules add to a store. */
type Added = Pick<ServerStoreOptions, 'rescue' | 'parts'>;

/** How long commands and a starting server wait for each other, in ms. */
const LOCK_MS = 15_000;

/**
 * Opens the store for the server of a home, after creating or repairing it; waits while a command uses it.
 * When the medium is full, read-only or failing, the store still opens: `problem()` reports that it is unavailable, and
 * it recovers once the medium does. Rejects with StoreRefused when another server uses it, or this version cannot use the
 * file.
 */
export async function openServerStore(options: ServerStoreOptions): Promise<Store> {
  const { path, durability, log, parts = [], rescue = null } = options;
  const entry = rescue?.thread ?? new URL('./store-thread.js', import.meta.url);
  const thread = (role: StoreThreadData['role']): StartThread => {
    const data: StoreThreadData = {
      role,
      path,
      durability,
      parts: role === 'writer' ? parts.map(({ url }) => url) : [],
    };
    return () => startEntry(entry, data);
  };
  const fail = (reason: string): void => store.fail(reason);
  const store = new SqliteStore({
    path,
    writer: new ThreadClient(options.writer ?? thread('writer'), fail),
    reader: new ThreadClient(thread('reader'), fail),
    rescue,
    isServer: true,
    log,
    beforeCommit: options.beforeCommit,
    failed: options.failed ?? (() => {}),
    lock: () => lockAsServer(path, () => store.exit()),
    now: Date.now,
  });
  await opened(store);
  store.startUpkeep();
  return store;
}

/**
 * Opens the store for a command while no server uses it, creating it if necessary. Holds the store's lock until it is
 * closed; waits while another command holds it. Rejects with StoreRefused when a server uses it or this version cannot
 * use the file, with StoreUnavailable when the medium fails.
 */
export const openOfflineStore = (path: string, added: Added = {}): Promise<Store> =>
  openInline(path, added, () => lockStore(path));

/** The same without waiting; null while another process uses the store. */
export async function tryOpenOfflineStore(path: string, added: Added): Promise<Store | null> {
  let lock: FileLock | null;
  try {
    lock = tryLock(lockPath(path));
  } catch (error) {
    throw new StoreUnavailable(`cannot open ${path}: ${describeDiskError(error)}`);
  }
  return lock === null ? null : openInline(path, added, async () => lock);
}

/** Opens a store without a file, in this thread. Closing it deletes everything. */
export async function openMemoryStore({
  log,
  parts,
  beforeCommit,
  failed = () => {},
}: Omit<ServerStoreOptions, 'path' | 'durability' | 'writer' | 'rescue'>): Promise<Store> {
  const path = ':memory:';
  const shared = connect(path, { busyMs: 0 });
  const lock = async (): Promise<FileLock> => ({ release: () => {} });
  return openHere({ path, durability: 'normal', shared, parts }, { log, beforeCommit, failed, lock });
}

/**
 * Reads the jobs from the file alone, without a lock and without the writes of opening a database. Changes that are only
 * in the log, from just before a kill, are missing.
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

/** Reads the jobs if none can be missing; null while the file has a log, is changing, or cannot be read. */
export function readClosedJobs(path: string): readonly JobRecord[] | null {
  try {
    const before = closedStateOf(path);
    const jobs = before === null ? null : readJobsUnopened(path);
    return closedStateOf(path) === before ? jobs : null;
  } catch {
    return null;
  }
}

/** Identifies the state of the file; null while it has a log. */
function closedStateOf(path: string): string | null {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return null;
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

async function openInline(
  path: string,
  { rescue = null, parts }: Added,
  lock: () => Promise<FileLock>,
): Promise<Store> {
  const silent = (): void => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const given = { log, beforeCommit: undefined, failed: silent, lock };
  const store = await openHere({ path, durability: 'full', rescue, parts }, given);
  const problem = store.problem();
  if (problem === null) return store;
  await store.close();
  throw new StoreUnavailable(problem.message);
}

/** Opens a store in this thread. */
async function openHere(
  options: WriterOptions,
  given: Pick<StoreParts, 'log' | 'beforeCommit' | 'failed' | 'lock'>,
): Promise<SqliteStore> {
  const { path, rescue = null } = options;
  const writer = new Writer(options);
  const reader = new Reader(options);
  const store = new SqliteStore({
    ...given,
    path,
    writer: inlineClient((request) => writer.serve(request)),
    reader: inlineClient((request) => reader.serve(request)),
    rescue,
    isServer: false,
    now: Date.now,
  });
  await opened(store);
  return store;
}

async function opened(store: SqliteStore): Promise<void> {
  try {
    await store.open();
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Commands use the store only briefly, so a start waits for them. Another server uses it until it is stopped. Its
 * control socket may have been removed, so the store also has a lock for servers.
 */
async function lockAsServer(path: string, atExit: () => void): Promise<FileLock> {
  const served = tryLock(servedPath(path));
  if (served === null) throw inUse(path, lockHolder(servedPath(path)), 'gateway');
  try {
    const lock = await lockStore(path);
    noteTime(servedPath(path));
    const cancel = beforeExit(atExit);
    return {
      release() {
        cancel();
        lock.release();
        served.release();
      },
    };
  } catch (error) {
    served.release();
    throw error;
  }
}

/** Sets the modification time of the file: the time since when the store is served. */
function noteTime(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // The disk is read-only: commands wait for the gateway as if it were starting.
  }
}

const inUse = (path: string, pid: number | null, what: string): StoreRefused =>
  new StoreRefused(`${path} is in use by another ${what}${pid === null ? '' : ` (pid ${pid})`}: stop it first`);

/** Waits for the store's lock. Rejects with StoreRefused when it is not released in time. */
async function lockStore(path: string): Promise<FileLock> {
  const lock = await waitForLock(lockPath(path), LOCK_MS, systemClock);
  if (lock !== null) return lock;
  throw inUse(path, lockHolder(lockPath(path)), 'process');
}
