/**
 * The marks that show that a store, or a part of it, is missing.
 *
 *   state.db, meta 'store'   {id, starts, is_open}: is_open is in the file itself, not only in its log, before an event is
 *                            acknowledged, and is cleared by a clean stop. While it is set, there is a log.
 *   state.db.id              id, starts and a checksum: written last. A file with fewer starts is an older copy.
 *
 * Each process writes both once, with its first change.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { writeAtomic } from '../../../runtime/platform/files.ts';
import { decodeOr, fieldsOf, isCount, isOneOf, isText } from '../../../runtime/store/decode.ts';
import type { Connect, Connection } from '../../../runtime/store/sqlite/driver.ts';
import { inTransaction } from '../../../runtime/store/sqlite/driver.ts';
import { formatOf } from '../../../runtime/store/sqlite/schema.ts';
import { notePath } from '../../../runtime/store/store-path.ts';

export interface StoreNote {
  readonly id: string;
  /** Number of processes that have changed the file. */
  readonly starts: number;
}

export interface StoreLife extends StoreNote {
  /** True if a process uses the file, or was killed while it did. */
  readonly is_open: boolean;
}

const isLife = fieldsOf<StoreLife>({ id: isText, starts: isCount, is_open: isOneOf(true, false) });

/** Words in one line, with a checksum. */
const sealed = (words: readonly (string | number)[]): string =>
  `${words.join(' ')} ${createHash('sha256').update(words.join(' ')).digest('hex').slice(0, 16)}\n`;

/** Writes the words to a small file, atomically and synced. @throws when the medium fails */
export const writeSealed = (path: string, words: readonly (string | number)[]): void =>
  writeAtomic(path, sealed(words), 0o600);

/** The words of such a file; null when it is missing or damaged. */
export function readSealed(path: string): readonly string[] | null {
  if (!existsSync(path)) return null;
  const line = readFileSync(path, 'latin1');
  const words = line.split(' ').slice(0, -1);
  return sealed(words) === line ? words : null;
}

/** Null when there is no readable note. */
export function readNote(path: string): StoreNote | null {
  const words = readSealed(notePath(path));
  return words === null ? null : { id: words[0] ?? '', starts: Number(words[1]) };
}

export const writeNote = (path: string, { id, starts }: StoreNote): void => writeSealed(notePath(path), [id, starts]);

/** Null when the file has no such entry; undefined when it cannot be read. */
export function readLife(db: Connection): StoreLife | null | undefined {
  const found = db.query<[string]>("SELECT value FROM meta WHERE key = 'store'").get();
  return found === undefined ? null : decodeOr<StoreLife | undefined>(found[0], isLife, undefined);
}

/** The numbers of a file's first page: of its schema, its format, and its latest commit (createNumbering). */
export interface FileState {
  readonly schema: number;
  readonly format: number;
  readonly commit: number;
}

export function readState(db: Connection): FileState {
  const read = (name: string): number => db.query<[number]>(`PRAGMA ${name}`).get()?.[0] ?? 0;
  return { schema: read('schema_version'), format: formatOf(db), commit: read('application_id') >>> 0 };
}

/** Reads from the file alone, without its log; undefined when it cannot be read. */
export function readAlone<T>(connect: Connect, path: string, read: (db: Connection) => T): T | undefined {
  let db: Connection | null = null;
  try {
    db = connect(`${pathToFileURL(path)}?immutable=1`, { busyMs: 0 });
    return read(db);
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

/** True if the note is about another file: this one is an older copy, or the store of another home. */
export const isOtherFile = (life: StoreLife | null | undefined, note: StoreNote | null): boolean =>
  note !== null && life !== undefined && (life === null || life.id !== note.id || life.starts < note.starts);

/**
 * Marks the file as in use. Returns false while the mark is only in the log: call it again. @throws when the medium
 * fails
 */
export function markOpen(db: Connection, path: string): boolean {
  const note = readNote(path);
  const before = readLife(db);
  const last = Math.max(note?.starts ?? 0, before?.starts ?? 0);
  const isMarked = before?.is_open === true && before.starts > (note?.starts ?? 0);
  const life: StoreLife = isMarked ? before : { id: before?.id ?? randomUUID(), starts: last + 1, is_open: true };
  if (!isMarked) putLife(db, life);
  const [, log, copied] = db.query<[number, number, number]>('PRAGMA wal_checkpoint(PASSIVE)').get() ?? [];
  if (log !== copied) return false;
  writeNote(path, life);
  return true;
}

/** Marks the file as closed; its log has yet to be copied into it. */
export function markClosed(db: Connection): void {
  const life = readLife(db);
  if (life?.is_open === true) putLife(db, { ...life, is_open: false });
}

export const putLife = (db: Connection, life: StoreLife): void =>
  inTransaction(db, () => void db.change("INSERT OR REPLACE INTO meta VALUES ('store', ?)")(JSON.stringify(life)));
