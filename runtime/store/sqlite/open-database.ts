/** Opens connections to the database file, after creating it or checking that it has this version's format. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeSynced } from '../../platform/files.ts';
import { StoreRefused } from '../contract.ts';
import { logMarkPath, notePath } from '../store-path.ts';
import type { Connect, Connection } from './driver.ts';
import { errorCode, inTransaction } from './driver.ts';
import { createFile } from './file-lock.ts';
import type { Findings, WriterRescue } from './rescue.ts';
import { createTables, FORMAT, formatOf, migrateTables, OLDEST_FORMAT } from './schema.ts';

/** `full`: each commit is synced. `normal`: only checkpoints are. */
export type Durability = 'full' | 'normal';

/** How long a connection waits while another one writes, in ms. */
const BUSY_MS = 5000;
/** The length to which the file of the write-ahead log is cut when the log restarts, in bytes. */
export const WAL_BYTES = 64 * 1024 * 1024;
const SYNCHRONOUS: Readonly<Record<Durability, string>> = { full: 'FULL', normal: 'NORMAL' };

/**
 * Opens a connection that writes. Removes the mark of the log, because the connection may begin another log. The reader
 * makes the checkpoints.
 */
export function openWriting(connect: Connect, path: string, durability: Durability): Connection {
  removeSynced(logMarkPath(path));
  return configure(connect(path, { busyMs: BUSY_MS }), [
    'journal_mode = WAL',
    `synchronous = ${SYNCHRONOUS[durability]}`,
    'wal_autocheckpoint = 0',
    `journal_size_limit = ${WAL_BYTES}`,
    'cache_size = -32000',
  ]);
}

export function openReading(connect: Connect, path: string): Connection {
  return configure(connect(path, { busyMs: BUSY_MS }), ['query_only = 1', 'cache_size = -16000']);
}

function configure(db: Connection, settings: readonly string[]): Connection {
  try {
    for (const setting of settings) db.exec(`PRAGMA ${setting}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** An open file, and the findings of a rescue. */
interface Prepared {
  readonly db: Connection;
  readonly findings: Findings | null;
}

/**
 * Creates the file if necessary, migrates it, and has it examined. The caller holds the store's lock.
 * @throws StoreRefused when this version cannot use the file; other errors when the medium fails
 */
export function prepareDatabase(connect: Connect, path: string, now: number, rescue: WriterRescue | null): Prepared {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const found = rescue?.examine(connect, now);
  // Without a rescue, the note becomes wrong once the file is written.
  if (rescue === null) removeSynced(notePath(path));
  createFile(path);
  const db = openWriting(connect, path, 'full');
  try {
    requireFormat(db, path);
    if (rescue === null) db.exec("DELETE FROM meta WHERE key = 'store'");
    return { db, findings: found?.(db) ?? null };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Creates the tables of a store in memory. */
export function prepareMemory(db: Connection): Prepared {
  inTransaction(db, () => createTables(db));
  return { db, findings: null };
}

/** Checkpoints the whole log, unless another connection prevents it. An empty log is the sign of a clean stop. */
export function emptyLog(db: Connection): void {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/**
 * Numbers commits in the header of the file: a log belongs to a file only if its numbers continue that of the file.
 * Returns a function to call at the end of a transaction; it changes nothing if the transaction has not.
 */
export function createNumbering(db: Connection): () => void {
  const [total, number] = ['SELECT total_changes()', 'PRAGMA application_id'].map((sql) => db.query<[number]>(sql));
  let numbered = 0;
  return () => {
    const [changes = 0] = total?.get() ?? [];
    if (changes === numbered) return;
    numbered = changes;
    db.exec(`PRAGMA application_id = ${((number?.get()?.[0] ?? 0) + 1) | 0}`);
  };
}

/** Creates the tables in an empty file, or migrates them. @throws StoreRefused for a file of another format */
function requireFormat(db: Connection, path: string): void {
  const format = formatOf(db);
  if (format > FORMAT) {
    throw new StoreRefused(
      `${path} was written by a newer hookwright (format ${format}, this version supports up to ${FORMAT}): ` +
        'upgrade, or move the file away',
    );
  }
  if (format > 0 && format < OLDEST_FORMAT) {
    throw new StoreRefused(`${path} has format ${format}, which predates the first release: move the file away`);
  }
  if (format === 0) inTransaction(db, () => createTables(db));
  else if (format < FORMAT) inTransaction(db, () => migrateTables(db, format));
}

/** Errors that may be temporary: the medium is full, read-only, or failing. */
const TEMPORARY =
  /^(?:ENOSPC|EDQUOT|EROFS|EIO|EMFILE|ENFILE|SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|PROTOCOL))/;

export const isTemporary = (error: unknown): boolean => TEMPORARY.test(errorCode(error));
