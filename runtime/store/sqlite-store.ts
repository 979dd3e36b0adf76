/**
 * The durable store: one SQLite file that needs no set-up. A server writes on a thread of its own and reads here;
 * commands open the same file beside it. Write-ahead logging lets readers and the one writer pass each other.
 */
import type { FileLock } from '../control/file-lock.ts';
import { tryLock } from '../control/file-lock.ts';
import type { Logger } from '../log.ts';
import { createTransactions } from './sqlite/commit.ts';
import type { Committer, StartThread } from './sqlite/committer.ts';
import { createInlineCommitter, createThreadCommitter } from './sqlite/committer.ts';
import { migrate, SCHEMA_VERSION, schemaVersion } from './sqlite/migrations.ts';
import type { Durability } from './sqlite/open-database.ts';
import { openDatabase, openReadOnly, StoreRefused } from './sqlite/open-database.ts';
import { createReader } from './sqlite/reader.ts';
import { RecentClaims } from './sqlite/recent-claims.ts';
import { hasStaged } from './sqlite/staged-batches.ts';
import { startThread } from './sqlite/start-thread.ts';
import type { OnCommitted } from './sqlite/write-queue.ts';
import { WriteQueue } from './sqlite/write-queue.ts';
import type { Store, StoreReader } from './store.ts';

export interface ServerStoreOptions {
  readonly path: string;
  readonly durability: Durability;
  readonly log: Logger;
  /** Called before each commit: what its changes say has happened must have left the process, as lines of the log. */
  readonly beforeCommit?: () => void;
  /** Starts the writer thread; default: the shipped one. */
  readonly thread?: StartThread;
}

/**
 * Opens the store for the one server of a home, creating or migrating it.
 * @throws StoreRefused when another server has it open, or the file cannot be used.
 */
export function openServerStore({ path, durability, log, beforeCommit, thread }: ServerStoreOptions): Store {
  const lock = lockStore(path);
  if (lock === null) throw new StoreRefused(`${path} is in use by another server: stop that one first`);
  try {
    prepare(path, durability);
    const start = thread ?? (() => startThread(path, durability));
    const committer = createThreadCommitter(start, (reason) => log.error({ reason }, 'the writer thread died'));
    return assemble(path, committer, { lock, beforeCommit });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Opens the store for a command that writes, beside a running server or without one.
 * @throws StoreRefused when the file cannot be used, or a running server of another version keeps it at its format.
 */
export function openCommandStore(path: string): Store {
  const lock = lockStore(path);
  try {
    if (lock !== null) prepare(path, 'full');
    else lookInto(path);
    return assemble(path, createInlineCommitter(path, 'full'), {});
  } finally {
    lock?.release();
  }
}

/**
 * Opens an existing store to read, beside a running server or without one.
 * @throws StoreRefused when the file cannot be read, or has another format.
 */
export function openStoreReader(path: string): StoreReader & { close(): void } {
  if (lookInto(path).hasStaged) finishKilled(path);
  const db = openReadOnly(path);
  return { ...createReader(db), close: () => void db.close() };
}

/** Moves what a killed server has staged into its tables; a running one does that itself. */
function finishKilled(path: string): void {
  const lock = lockStore(path);
  if (lock === null) return;
  try {
    prepare(path, 'full');
  } finally {
    lock.release();
  }
}

const lockStore = (path: string): FileLock | null => tryLock(`${path}.lock`);

function prepare(path: string, durability: Durability): void {
  const db = openDatabase(path, durability);
  try {
    migrate(db);
    const refused = hasStaged(db) ? createTransactions(db).moveStaged(Number.POSITIVE_INFINITY) : null;
    if (refused !== null) throw new StoreRefused(`cannot go on where ${path} was left: ${refused}`);
  } finally {
    db.close();
  }
}

/** @throws StoreRefused when the file has another format */
function lookInto(path: string): { readonly hasStaged: boolean } {
  const db = openReadOnly(path);
  try {
    const version = schemaVersion(db);
    if (version === SCHEMA_VERSION) return { hasStaged: hasStaged(db) };
    throw new StoreRefused(
      `${path} has format ${version}, this hookwright needs ${SCHEMA_VERSION}: restart the server with this version`,
    );
  } finally {
    db.close();
  }
}

interface AssembleOptions {
  /** Released when the store is closed. */
  readonly lock?: FileLock;
  readonly beforeCommit?: (() => void) | undefined;
}

function assemble(path: string, committer: Committer, { lock, beforeCommit }: AssembleOptions): Store {
  const recent = new RecentClaims();
  const committed: OnCommitted = (mutation, result) => recent.committed(mutation, result);
  const queue = new WriteQueue(committer, { beforeCommit, committed });
  const db = openReadOnly(path);
  const reader = createReader(db);
  let closing: Promise<void> | null = null;
  return {
    ...reader,
    // A commit can be read some ms before it is safe on the disk: what is on its way there is not known as done.
    isClaimed: (claim, now) => recent.has(claim, now) || (!queue.isClaiming(claim) && reader.isClaimed(claim, now)),
    isKnownClaimed: (claim, now) => recent.has(claim, now),
    write: (mutation) => queue.write(mutation),
    settle: () => queue.settle(),
    close() {
      closing ??= queue.close().then(() => {
        db.close();
        lock?.release();
      });
      return closing;
    },
  };
}
