/** The table of kept requests, in a separate file that may be deleted at any time. */
import { rmSync, statSync } from 'node:fs';
import type { Connect, Connection } from '../../../../../runtime/store/sqlite/driver.ts';
import { errorCode } from '../../../../../runtime/store/sqlite/driver.ts';
import { createFile } from '../../../../../runtime/store/sqlite/file-lock.ts';

/** Stored in `PRAGMA user_version`. A file with another format is replaced by an empty one. */
export const CAPTURE_FORMAT = 1;

/**
 * `n` is the number in the id (request-id.ts). Each index also contains it, so that the newest requests of a route or an
 * outcome are found without sorting. `head` is everything but the body, as JSON.
 */
const TABLE = `
  CREATE TABLE request (
    n INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    route TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT,
    head TEXT NOT NULL,
    body BLOB
  );
  CREATE INDEX request_route ON request (route);
  CREATE INDEX request_outcome ON request (outcome);
`;

const BUSY_MS = 5000;

/**
 * Opens the connection that writes; creates the file if it is missing, and replaces it if it cannot be used. Nothing is
 * synced: a power loss may damage the file, which is then replaced.
 * @throws the driver's error when the medium fails
 */
export function openCaptureFile(connect: Connect, path: string): Connection {
  createFile(path);
  try {
    return open(connect, path);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    removeCaptureFile(path);
    createFile(path);
    return open(connect, path);
  }
}

/** Whether the file is damaged or has another format. */
export const isDamaged = (error: unknown): boolean =>
  error instanceof OtherFormat || /^SQLITE_(?:CORRUPT|NOTADB)/.test(errorCode(error));

export function removeCaptureFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

class OtherFormat extends Error {}

function open(connect: Connect, path: string): Connection {
  const db = connect(path, { busyMs: BUSY_MS });
  try {
    for (const setting of [
      'auto_vacuum = INCREMENTAL',
      'journal_mode = WAL',
      'synchronous = OFF',
      'cache_size = -4000',
    ])
      db.exec(`PRAGMA ${setting}`);
    const format = captureFormatOf(db);
    if (format !== 0 && format !== CAPTURE_FORMAT) throw new OtherFormat(`format ${format}`);
    if (format === 0) db.exec(`BEGIN; ${TABLE} PRAGMA user_version = ${CAPTURE_FORMAT}; COMMIT`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export const captureFormatOf = (db: Connection): number => db.query<[number]>('PRAGMA user_version').get()?.[0] ?? 0;

/** Inode of the file at this path; null when there is none. */
export const inodeOf = (path: string): bigint | null =>
  statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
