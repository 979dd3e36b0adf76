/** Opens connections to the database file, after creating it or checking that it has this version's format. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreRefused } from '../contract.ts';
import { decodeOr } from '../decode.ts';
import type { DamageReport } from '../queries.ts';
import { hasNote } from '../store-path.ts';
import { setRowsAside } from './damaged-rows.ts';
import type { Connect, Connection } from './driver.ts';
import { errorCode, inTransaction } from './driver.ts';
import { createFile } from './file-lock.ts';
import { createTables, FORMAT, formatOf, migrateTables, OLDEST_FORMAT } from './schema.ts';
import { isOtherFile, markClosed, putLife, readLifeAlone, readNote } from './store-note.ts';
import { removeLogMark, setDamagedAside, setOtherAside } from './wal-damage.ts';

/** `full`: each commit is synced. `normal`: only checkpoints are. */
export type Durability = 'full' | 'normal';

/** How long a connection waits while another one writes, in ms. */
const BUSY_MS = 5000;
/** The length to which the file of the write-ahead log is cut when the log restarts, in bytes. */
export const WAL_BYTES = 64 * 1024 * 1024;
const SYNCHRONOUS: Readonly<Record<Durability, string>> = { full: 'FULL', normal: 'NORMAL' };

/** Opens the connection that writes, whose log is not known yet. The reader makes the checkpoints. */
export function openWriting(connect: Connect, path: string, durability: Durability): Connection {
  removeLogMark(path);
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

export interface Prepared {
  /** A process that used the file was killed, and no server has checked the whole file since. */
  readonly unchecked: boolean;
  /** Loss found in the log since then, by this process or by an earlier command. */
  readonly damage: DamageReport | null;
  /** Rows that were damaged, and have been set aside now; a line each. */
  readonly rows: readonly string[];
  /** Damage that an earlier check found in the file; it may have been repaired since. */
  readonly broken: DamageReport | null;
}

/**
 * Creates the file if necessary, and checks it for damage. The caller holds the store's lock.
 * @throws StoreRefused when this version cannot use the file; other errors when the medium fails
 */
export function prepareDatabase(
  connect: Connect,
  path: string,
  now: number,
): { readonly db: Connection; readonly prepared: Prepared } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const [bytes, logBytes] = [path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.size ?? 0);
  if (bytes === 0 && (hasNote(path) || (logBytes !== 0 && !existsSync(path)))) throw new StoreRefused(gone(path));
  createFile(path);
  const life = bytes === 0 ? undefined : readLifeAlone(connect, path);
  const note = readNote(path);
  const isOther = isOtherFile(life, note);
  const lost = isOther ? setOtherAside(path, now) : setDamagedAside(path, now, life);
  const unclean = !isOther && (logBytes !== 0 || life?.is_open === true);
  const db = openWriting(connect, path, 'full');
  try {
    requireFormat(db, path);
    if (unclean || lost !== null) db.change("INSERT OR IGNORE INTO meta VALUES ('unclean_stop_found', ?)")(String(now));
    if (lost !== null) putMeta(db, 'damage', JSON.stringify(lost));
    // From now on it is this home's file: what is said of it is stored above, and not found again by the next opening.
    if (isOther && note !== null) putLife(db, { ...note, is_open: false });
    else markClosed(db);
    if (lost !== null || life?.is_open === true) emptyLog(db);
    return { db, prepared: { ...findings(db), rows: setRowsAside(db, now) } };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Creates the tables of a store in memory. */
export function prepareMemory(db: Connection): ReturnType<typeof prepareDatabase> {
  inTransaction(db, () => createTables(db));
  return { db, prepared: { unchecked: false, damage: null, broken: null, rows: [] } };
}

const gone = (path: string): string =>
  `${path} is gone, or empty, and this home had a store. Put a copy back: hookwright store restore <file>; ` +
  'or begin anew, without what was stored: hookwright store new';

/** Checkpoints the whole log, unless another connection prevents it. An empty log is the sign of a clean stop. */
export function emptyLog(db: Connection): void {
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

function findings(db: Connection): Omit<Prepared, 'rows'> {
  const found = getMeta(db, 'unclean_stop_found');
  const damage = getReport(db, 'damage');
  const broken = getReport(db, 'broken_file');
  const isNew = found !== null && (damage?.at ?? 0) >= Number(found);
  return { unchecked: found !== null || broken !== null, damage: isNew ? damage : null, broken };
}

/** Records that the whole file has been checked. @param broken null: it is intact */
export function noteChecked(db: Connection, broken: DamageReport | null): void {
  inTransaction(db, () => {
    db.exec("DELETE FROM meta WHERE key IN ('unclean_stop_found', 'broken_file')");
    if (broken !== null) putMeta(db, 'broken_file', JSON.stringify(broken));
  });
}

const getReport = (db: Connection, key: string): DamageReport | null =>
  decodeOr(getMeta(db, key) ?? 'null', () => true, null);

const getMeta = (db: Connection, key: string): string | null =>
  db.query<[string]>('SELECT value FROM meta WHERE key = ?').get(key)?.[0] ?? null;

const putMeta = (db: Connection, key: string, value: string): void =>
  void db.change('INSERT OR REPLACE INTO meta VALUES (?, ?)')(key, value);

/** Creates the tables in an empty file, or migrates them. @throws StoreRefused for a file of another format */
function requireFormat(db: Connection, path: string): void {
  const format = formatOf(db);
  if (format > FORMAT) {
    throw new StoreRefused(
      `${path} was written by a newer hookwright (format ${format}, this one knows ${FORMAT}): ` +
        'upgrade, or move the file away',
    );
  }
  if (format > 0 && format < OLDEST_FORMAT) {
    throw new StoreRefused(`${path} has format ${format}, of a version before the first release: move the file away`);
  }
  if (format === 0) inTransaction(db, () => createTables(db));
  else if (format < FORMAT) inTransaction(db, () => migrateTables(db, format));
}

/** Errors that may be temporary: the medium is full, read-only, or failing. */
const TEMPORARY =
  /^(?:ENOSPC|EDQUOT|EROFS|EIO|EMFILE|ENFILE|SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|PROTOCOL))/;

export const isTemporary = (error: unknown): boolean => TEMPORARY.test(errorCode(error));
