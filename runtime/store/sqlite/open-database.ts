/** Opens the database file the way every connection of ours needs it, and says clearly why when it cannot. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'libsql';
import { SCHEMA_VERSION, schemaVersion } from './migrations.ts';

export type Durability = 'full' | 'normal';

/** The store cannot be used at all; the message says what to do. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
}

/** How long a connection waits for another's write, in ms. */
const BUSY_MS = 5000;
/** Pages of the write-ahead log before it is folded into the file: larger means fewer, longer pauses of the writer. */
const CHECKPOINT_PAGES = 16_000;
const SYNCHRONOUS: Readonly<Record<Durability, string>> = { full: 'FULL', normal: 'NORMAL' };

/** A connection that may write. */
export function openDatabase(path: string, durability: Durability): Database.Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createFile(path);
  return configure(path, (db) => {
    db.exec('PRAGMA journal_mode = WAL');
    db.exec(`PRAGMA synchronous = ${SYNCHRONOUS[durability]}`);
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    db.exec('PRAGMA journal_size_limit = 67108864');
    db.exec('PRAGMA cache_size = -16000');
  });
}

/**
 * Creates the file with mode 0600 before SQLite sees it: its companions inherit that. A file that is there is not
 * opened: closing it again would drop the locks that SQLite holds on it for this whole process, and another process
 * that closes the database would then take itself for the last one and remove the log we are writing to.
 */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** A connection that only reads. */
export function openReadOnly(path: string): Database.Database {
  return configure(path, (db) => db.exec('PRAGMA query_only = 1'));
}

function configure(path: string, apply: (db: Database.Database) => void): Database.Database {
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { timeout: BUSY_MS });
    apply(db);
    // The first statement that reads the file: a file that is no database fails here.
    const version = schemaVersion(db);
    if (version <= SCHEMA_VERSION) return db;
    throw new StoreRefused(
      `${path} was written by a newer hookwright (format ${version}, this one knows ${SCHEMA_VERSION}): upgrade, or move the file away`,
    );
  } catch (error) {
    db?.close();
    if (error instanceof StoreRefused) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    throw new StoreRefused(`cannot open ${path}: ${detail}`);
  }
}
