/**
 * Tells whether a log is the one that the store was last written with.
 *
 *   state.db-wal.id    id and starts of the store, the first salt of the log, and a checksum
 *
 * A connection that writes begins its first log with random salts, or continues the log that it finds; each restart of the log
 * adds one to the first salt (https://www.sqlite.org/fileformat2.html#walreset). So as long as one connection writes, the salt
 * only grows from the one that is marked. The mark is removed before another connection is opened that may write, and made
 * after a commit of it: a kill between the two leaves no mark, and then any log is believed.
 */
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { removeSynced, writeAtomic } from '../../platform/write-atomic.ts';
import { logMarkPath } from '../store-path.ts';
import type { Connection } from './driver.ts';
import { readAt } from './foreign-log.ts';
import type { StoreNote } from './store-note.ts';
import { readLife, sealed } from './store-note.ts';

/** Offset and number of bytes of the first salt in the header of a log. */
const SALT = { at: 16, bytes: 4 } as const;
/** A log restarts at most once a second: this lasts for four years. Of 32 logs that are not the store's, one passes. */
const MOST_RESTARTS = 2 ** 27;

const lineOf = ({ id, starts }: StoreNote, salt: number): string => sealed(`${id} ${starts} ${salt}`);

/** Forgets which log it is. @throws the system's error */
export const removeLogMark = (path: string): void => removeSynced(logMarkPath(path));

/** Marks the log in which `db` has committed. Returns false when that cannot be done yet, as on a full disk: what was committed stands. */
export function markLog(db: Connection, path: string): boolean {
  try {
    const life = readLife(db);
    const salt = readSalt(`${path}-wal`);
    if (!life || salt === null) return false;
    writeAtomic(logMarkPath(path), lineOf(life, salt), 0o600);
    return true;
  } catch {
    return false;
  }
}

function readSalt(walPath: string): number | null {
  const file = openSync(walPath, 'r');
  try {
    const bytes = readAt(file, SALT.at, SALT.bytes);
    return bytes.length < SALT.bytes ? null : bytes.readUInt32BE();
  } finally {
    closeSync(file);
  }
}

/**
 * Whether a log with this first salt is not that of the store. A mark that is not of this file, as of another home, says of its own
 * log that it is not of this file either, and nothing of others. @param life what the file says without its log
 */
export function isOtherLog(path: string, life: StoreNote, salt: number): boolean {
  if (!existsSync(logMarkPath(path))) return false;
  const line = readFileSync(logMarkPath(path), 'latin1');
  const [id = '', starts, first] = line.split(' ');
  const marked = { id, starts: Number(starts) };
  if (line !== lineOf(marked, Number(first))) return false;
  const isOfMark = (salt - Number(first)) >>> 0 < MOST_RESTARTS;
  return isOfMark !== (id === life.id && marked.starts === life.starts);
}
