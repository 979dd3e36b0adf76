/**
 * Stores captured requests in a file of the home, which may be deleted at any time. Writes are not synced: a power loss may
 * damage the file. A damaged file, or a file of another format, is replaced by an empty file that records what was lost.
 */
import { rmSync, statSync } from 'node:fs';
import { messageOf } from '../../../../base/errors.ts';
import type { CapturedRequests } from '../../../../runtime/intake/keeper.ts';
import type { NewRequestRow, RequestFilter, RequestRow } from '../../../../runtime/store/shared.ts';
import type { Connection, Value } from '../../../../runtime/store/sqlite/driver.ts';
import { connect, errorCode, inTransaction } from '../../../../runtime/store/sqlite/driver.ts';
import { createFile } from '../../../../runtime/store/sqlite/file-lock.ts';
import { openReading } from '../../../../runtime/store/sqlite/open-database.ts';
import type { LostRequests, ReadRows, WriteRows } from './requests.ts';
import { capturedRequests, capturePath, firstNumber, lostText, timeOf } from './requests.ts';

/** Stored in `PRAGMA user_version`. */
const FORMAT = 1;
/**
 * `n` is the number in the id (requests.ts). Each index also contains it, so that the newest requests of a route or an
 * outcome are found without sorting. `head` contains everything except the body, as JSON.
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
/** A file of an earlier version gets these indexes when it is opened. The earlier version can still use the file. */
const LATER_INDEXES = `
  CREATE INDEX IF NOT EXISTS request_reason ON request (reason) WHERE reason IS NOT NULL;
  CREATE INDEX IF NOT EXISTS request_profile ON request (profile);
`;
/** The loss of the file that this one replaces. The row expires like a request. */
const LOST =
  'CREATE TABLE IF NOT EXISTS lost (n INTEGER PRIMARY KEY, reason TEXT NOT NULL, bytes INTEGER NOT NULL) STRICT';
const SETTINGS = ['auto_vacuum = INCREMENTAL', 'journal_mode = WAL', 'synchronous = OFF', 'cache_size = -4000'];
const BUSY_MS = 5000;
/** Number of rows removed in one transaction. */
const SLICE = 200;
/** Maximum number of pages returned to the file system after a trim. */
const VACUUM_PAGES = 1000;

/** A connection that is opened on first use, and again if the file has been replaced. */
class FollowedFile {
  private readonly path: string;
  private readonly connect: () => Connection | null;
  private opened: { readonly db: Connection; readonly inode: bigint | null } | null = null;

  constructor(path: string, connect: () => Connection | null) {
    this.path = path;
    this.connect = connect;
  }

  open(): Connection | null {
    if (this.opened !== null && this.opened.inode !== inodeOf(this.path)) this.close();
    if (this.opened === null) {
      const db = this.connect();
      if (db !== null) this.opened = { db, inode: inodeOf(this.path) };
    }
    return this.opened?.db ?? null;
  }

  close(): void {
    this.opened?.db.close();
    this.opened = null;
  }
}

/** Inode of the file at this path; null if there is no file. */
const inodeOf = (path: string): bigint | null => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;

const formatOf = (db: Connection): number => db.query<[number]>('PRAGMA user_version').get()?.[0] ?? 0;

/** Reads the rows; without a file there are no rows. */
export class RequestFileReader implements ReadRows {
  private readonly path: string;
  private readonly file: FollowedFile;

  constructor(path: string) {
    this.path = path;
    this.file = new FollowedFile(path, () => {
      if (inodeOf(path) === null) return null;
      const db = openReading(connect, path);
      if (formatOf(db) === FORMAT) return db;
      // The file has just been created, or is from another version.
      db.close();
      return null;
    });
  }

  list(filter: RequestFilter): readonly Omit<RequestRow, 'body'>[] {
    return this.read(() => this.rows(filter));
  }

  /** A file with damaged pages is replaced. @throws the driver's error */
  private read<T>(ask: () => T): T {
    try {
      return ask();
    } catch (error) {
      if (!isDamaged(error)) throw error;
      this.close();
      throw new Error(lostText(replaceFile(this.path, error)), { cause: error });
    }
  }

  /** What was lost when a damaged file was replaced; null: nothing, or the record has expired. */
  lost(): LostRequests | null {
    return this.read(() => lostIn(this.file.open()));
  }

  private rows(filter: RequestFilter): readonly Omit<RequestRow, 'body'>[] {
    const { where, values } = conditions(filter);
    const order = filter.isAscending ? 'ASC' : 'DESC';
    const sql = `SELECT n, head FROM request${where} ORDER BY n ${order} LIMIT ? OFFSET ?`;
    const rows =
      this.file
        .open()
        ?.query<[n: number, head: string]>(sql)
        .all(...values, filter.limit, filter.skip) ?? [];
    return rows.map(([n, head]) => ({ n, head }));
  }

  between(from: number, to: number): readonly RequestRow[] {
    const sql = 'SELECT n, head, body FROM request WHERE n BETWEEN ? AND ? ORDER BY n LIMIT 2';
    const find = () => this.file.open()?.query<[n: number, head: string, body: Buffer | null]>(sql).all(from, to) ?? [];
    return this.read(find).map(([n, head, body]) => ({ n, head, body }));
  }

  close(): void {
    this.file.close();
  }
}

function lostIn(db: Connection | null): LostRequests | null {
  const isThere = db?.query("SELECT 1 FROM sqlite_schema WHERE name = 'lost'").get() !== undefined;
  if (db === null || !isThere) return null;
  const row = db.query<[n: number, reason: string, bytes: number]>('SELECT n, reason, bytes FROM lost').get();
  return row === undefined ? null : { at: timeOf(row[0]), reason: row[1], bytes: row[2] };
}

/** Replaces a damaged file by an empty one. */
function replaceFile(path: string, error: unknown): LostRequests {
  const bytes = FILES.reduce((sum, end) => sum + (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0), 0);
  const lost = { at: Date.now(), reason: messageOf(error), bytes };
  for (const end of FILES) rmSync(path + end, { force: true });
  const db = openWriting(path);
  db.exec(LOST);
  db.change('INSERT INTO lost VALUES (?, ?, ?)')(firstNumber(lost.at), lost.reason, bytes);
  db.close();
  return lost;
}

const FILES = ['', '-wal', '-shm'];

/** Opens the captured requests of a home whose gateway is not running; without a file there are none. */
export function openRequestFile(home: string): CapturedRequests {
  const reader = new RequestFileReader(capturePath(home));
  return { ...capturedRequests(reader), close: async () => reader.close() };
}

/** Columns, those with the fewest rows per value first. */
const BY_ROWS = ['reason', 'route', 'outcome', 'profile'] as const;

function conditions(filter: RequestFilter): { readonly where: string; readonly values: readonly Value[] } {
  const terms: string[] = [];
  const values: Value[] = [];
  const add = (term: string, ...given: readonly (Value | undefined)[]): void => {
    const known = given.filter((value) => value !== undefined);
    if (known.length === 0) return;
    terms.push(term);
    values.push(...known);
  };
  // The first column uses its index, and the others are compared (`+`), because SQLite does not know which has fewer rows per value.
  const given = BY_ROWS.filter((name) => filter[name] !== undefined);
  for (const [at, name] of given.entries()) add(`${at === 0 ? '' : '+'}${name} = ?`, filter[name] ?? undefined);
  add('n > ?', filter.above);
  add('n < ?', filter.below);
  if (filter.grep !== undefined) {
    const inHead = likePattern(JSON.stringify(filter.grep).slice(1, -1));
    add("(head LIKE ? ESCAPE '!' OR CAST(body AS TEXT) LIKE ? ESCAPE '!')", inHead, likePattern(filter.grep));
  }
  return { where: terms.length === 0 ? '' : ` WHERE ${terms.join(' AND ')}`, values };
}

const likePattern = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;

/** Writes the rows. If the file has been removed, or cannot be used, a new one is created. */
export class RequestFile implements WriteRows {
  private readonly path: string;
  private readonly file: FollowedFile;
  private lost: LostRequests | null = null;

  constructor(path: string) {
    this.path = path;
    this.file = new FollowedFile(path, () => openWriting(path));
  }

  /** @throws the driver's error if the disk fails */
  add(rows: readonly NewRequestRow[]): number {
    return this.change((db) => {
      const insert = db.change('INSERT OR IGNORE INTO request VALUES (?, ?, ?, ?, ?, ?, ?)');
      let stored = 0;
      inTransaction(db, () => {
        for (const { n, profile, route, outcome, reason, head, body } of rows) {
          stored += insert(n, profile, route, outcome, reason, head, body as Buffer | null);
        }
      });
      return stored;
    });
  }

  trim(before: number, maxBytes: number): void {
    this.change((db) => trim(db, before, maxBytes));
  }

  /** Returns what was lost since the last call; null: nothing. */
  takeLost(): LostRequests | null {
    const { lost } = this;
    this.lost = null;
    return lost;
  }

  close(): void {
    this.file.close();
  }

  private change<T>(make: (db: Connection) => T): T {
    try {
      return make(this.file.open() as Connection);
    } catch (error) {
      this.close();
      if (!isDamaged(error)) throw error;
      this.lost = replaceFile(this.path, error);
      return make(this.file.open() as Connection);
    }
  }
}

class OtherFormat extends Error {}

const isDamaged = (error: unknown): boolean =>
  error instanceof OtherFormat || /^SQLITE_(?:CORRUPT|NOTADB)/.test(errorCode(error));

function openWriting(path: string): Connection {
  createFile(path);
  const db = connect(path, { busyMs: BUSY_MS });
  try {
    for (const setting of SETTINGS) db.exec(`PRAGMA ${setting}`);
    const format = formatOf(db);
    if (format !== 0 && format !== FORMAT) throw new OtherFormat(`format ${format}`);
    if (format === 0) db.exec(`BEGIN; ${TABLE} PRAGMA user_version = ${FORMAT}; COMMIT`);
    db.exec(LATER_INDEXES);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Removes expired rows, then the oldest rows until the file is small enough, in batches. */
function trim(db: Connection, before: number, maxBytes: number): void {
  const removeBelow = db.change(
    'DELETE FROM request WHERE n IN (SELECT n FROM request WHERE n < ? ORDER BY n LIMIT ?)',
  );
  let removed = 0;
  for (let slice = SLICE; slice === SLICE; removed += slice) slice = removeBelow(before, SLICE);
  const sizes = db.query<[n: number, bytes: number]>(
    'SELECT n, length(head) + ifnull(length(body), 0) FROM request ORDER BY n LIMIT ?',
  );
  for (let excess = usedBytes(db) - maxBytes; excess > 0; excess = usedBytes(db) - maxBytes) {
    const end = endOfOldest(sizes.all(SLICE), excess);
    if (end === null) break;
    removed += removeBelow(end, SLICE);
  }
  if (lostIn(db) !== null) db.change('DELETE FROM lost WHERE n < ?')(before);
  if (removed > 0) db.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
}

/** Returns the number after the oldest rows that together have `excess` bytes; null if there are no rows. */
function endOfOldest(rows: readonly (readonly [n: number, bytes: number])[], excess: number): number | null {
  let left = excess;
  let end: number | null = null;
  for (const [n, bytes] of rows) {
    end = n + 1;
    left -= bytes;
    if (left <= 0) break;
  }
  return end;
}

/** Size of the used pages, in bytes. */
function usedBytes(db: Connection): number {
  const [pages, free, size] = ['page_count', 'freelist_count', 'page_size'].map(
    (name) => db.query<[number]>(`PRAGMA ${name}`).get()?.[0] ?? 0,
  );
  return ((pages ?? 0) - (free ?? 0)) * (size ?? 0);
}
