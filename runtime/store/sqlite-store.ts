/**
 * The durable store: one SQLite file that needs no set-up, and under load a journal beside it. A server writes on a
 * thread of its own and reads here; commands open the same file beside it. Write-ahead logging lets readers and the one
 * writer pass each other.
 */
import { randomBytes } from 'node:crypto';
import type Database from 'libsql';
import type { FileLock } from '../control/file-lock.ts';
import { tryLock } from '../control/file-lock.ts';
import type { Logger } from '../log.ts';
import { Journal } from './journal/journal.ts';
import { hasSegments } from './journal/segments.ts';
import { createTransactions } from './sqlite/commit.ts';
import type { FollowEvents, FollowingCommitter, StartThread } from './sqlite/committer.ts';
import { createInlineCommitter, createThreadCommitter } from './sqlite/committer.ts';
import { followAll } from './sqlite/follower.ts';
import type { JournalLaneParts } from './sqlite/journal-lane.ts';
import { JournalLane } from './sqlite/journal-lane.ts';
import { createMark, storeName } from './sqlite/journal-mark.ts';
import { holdsStaged, migrate, SCHEMA_VERSION, schemaVersion } from './sqlite/migrations.ts';
import { lastIdOf, ServerNumbers } from './sqlite/numbering.ts';
import type { Durability } from './sqlite/open-database.ts';
import { openDatabase, openReadOnly, StoreRefused } from './sqlite/open-database.ts';
import type { OnCommitted } from './sqlite/pending.ts';
import { createReader } from './sqlite/reader.ts';
import { RecentClaims } from './sqlite/recent-claims.ts';
import { startThread } from './sqlite/start-thread.ts';
import { StoredClaims } from './sqlite/stored-claims.ts';
import { WriteQueue } from './sqlite/write-queue.ts';
import type { Store, StoreReader } from './store.ts';

export interface ServerStoreOptions {
  readonly path: string;
  readonly durability: Durability;
  readonly log: Logger;
  /** Called before a commit of what has happened: that must have left the process by then, as lines of the log. */
  readonly beforeCommit?: () => void;
  /** Starts the writer thread; default: the shipped one. */
  readonly thread?: StartThread;
  /** For tests. */
  readonly journal?: Pick<JournalLaneParts, 'from' | 'reached'>;
}

/**
 * Opens the store for the one server of a home, creating or migrating it.
 * @throws StoreRefused when another server has it open, or the file cannot be used.
 */
export function openServerStore(options: ServerStoreOptions): Store {
  const { path } = options;
  const lock = lockStore(path);
  if (lock === null) throw new StoreRefused(`${path} is in use by another server: stop that one first`);
  try {
    prepare(path);
    const { durability, log, thread } = options;
    const start = thread ?? (() => startThread(path, durability));
    const onDeath = (reason: string): void => log.error({ reason }, 'the writer thread died');
    return assembleServer(
      options,
      (events) => createThreadCommitter({ start, events, onDeath }),
      () => lock.release(),
    );
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
    if (lock !== null) prepare(path);
    else checkFormat(path);
  } finally {
    lock?.release();
  }
  const recent = new RecentClaims();
  const committer = createInlineCommitter(path, 'full');
  const queue = new WriteQueue(committer, { committed: (mutation, result) => recent.committed(mutation, result) });
  const db = openReadOnly(path);
  return assemble({ db, reader: createReader(db), queue, recent, closed: () => {} });
}

/**
 * Opens an existing store to read, beside a running server or without one.
 * @throws StoreRefused when the file cannot be read, or has another format.
 */
export function openStoreReader(path: string): StoreReader & { close(): void } {
  checkFormat(path);
  if (hasSegments(path)) finishKilled(path);
  const db = openReadOnly(path);
  return { ...createReader(db), close: () => void db.close() };
}

/** Brings what a killed server has in its journal into the tables; a running one does that itself. */
function finishKilled(path: string): void {
  const lock = lockStore(path);
  if (lock === null) return;
  try {
    prepare(path);
  } finally {
    lock.release();
  }
}

const lockStore = (path: string): FileLock | null => tryLock(`${path}.lock`);

/** Brings the file to the format of this version, and up to date with its journal. */
function prepare(path: string): void {
  const db = openDatabase(path, 'full');
  try {
    if (holdsStaged(db)) {
      const why = 'holds events that the version which wrote it was killed with';
      throw new StoreRefused(`${path} ${why}: start that version once more, stop it, and then start this one`);
    }
    migrate(db);
    if (hasSegments(path)) followAll(path, db, createTransactions(db));
  } finally {
    db.close();
  }
}

/** @throws StoreRefused when the file has another format */
function checkFormat(path: string): void {
  const db = openReadOnly(path);
  try {
    const version = schemaVersion(db);
    if (version === SCHEMA_VERSION) return;
    throw new StoreRefused(
      `${path} has format ${version}, this hookwright needs ${SCHEMA_VERSION}: restart the server with this version`,
    );
  } finally {
    db.close();
  }
}

/** The store of the one server over a file that is up to date. @param closed called when the store is closed */
export function assembleServer(
  { path, durability, log, beforeCommit, journal }: ServerStoreOptions,
  startCommitter: (events: FollowEvents) => FollowingCommitter,
  closed = (): void => {},
): Store {
  const recent = new RecentClaims();
  const committed: OnCommitted = (mutation, result) => recent.committed(mutation, result);
  const db = openReadOnly(path);
  const reader = createReader(db);
  const numbers = new ServerNumbers(reader.last);
  const committer = startCommitter({
    followed: (number) => lane.followed(number),
    safe: (number) => lane.onSafe(number),
    forgotten: () => lane.forgotten(),
  });
  const salt = (): number => randomBytes(4).readUInt32LE();
  const lane = new JournalLane({
    ...{ durability, numbers, committed, log, ...journal },
    journal: new Journal({ path, store: storeName(db), last: createMark(db).get(), salt }),
    follow: (place, safe) => committer.follow(place, safe),
    storedClaims: (pending) => new StoredClaims(db, pending),
    lastId: lastIdOf(db),
  });
  const queue = new WriteQueue(committer, { beforeCommit, committed, lane });
  return assemble({ db, reader, queue, recent, closed });
}

interface StoreParts {
  readonly db: Database.Database;
  readonly reader: StoreReader;
  readonly queue: WriteQueue;
  readonly recent: RecentClaims;
  readonly closed: () => void;
}

function assemble({ db, reader, queue, recent, closed }: StoreParts): Store {
  let closing: Promise<void> | null = null;
  return {
    ...reader,
    // A commit can be read some ms before it is safe on the disk: what is on its way there is not known as done.
    isClaimed: (claim, now) =>
      recent.has(claim, now) ||
      queue.isClaimed(claim, now) ||
      (!queue.isClaiming(claim) && reader.isClaimed(claim, now)),
    isKnownClaimed: (claim, now) => recent.has(claim, now),
    write: (mutation) => queue.write(mutation),
    settle: () => queue.settle(),
    close() {
      closing ??= queue.close().then(() => {
        db.close();
        closed();
      });
      return closing;
    },
  };
}
