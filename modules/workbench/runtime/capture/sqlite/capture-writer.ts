/** The writer of kept requests, in its own thread: stores them, and removes the oldest ones beyond the limits. */
import type { Connect, Connection } from '../../../../../runtime/store/sqlite/driver.ts';
import { connect as connectDriver } from '../../../../../runtime/store/sqlite/driver.ts';
import { inTransaction } from '../../../../../runtime/store/sqlite/transaction.ts';
import type { Captured, CaptureLimits, NewSecrets } from '../captured.ts';
import type { NumberedRecord } from '../record-finisher.ts';
import { RecordFinisher } from '../record-finisher.ts';
import { inodeOf, isDamaged, openCaptureFile, removeCaptureFile } from './schema.ts';

export type CaptureWriterRequest =
  | {
      readonly kind: 'write';
      readonly records: readonly Captured[];
      readonly limits: CaptureLimits;
      readonly secrets: NewSecrets;
    }
  | { readonly kind: 'close' };

/** Rows removed in one transaction. */
const SLICE = 200;
/** Most pages returned to the file system after a trim. */
const VACUUM_PAGES = 1000;

interface Opened {
  readonly db: Connection;
  /** Inode of the file that was opened. */
  readonly inode: bigint | null;
}

export class CaptureWriter {
  private readonly path: string;
  private readonly connect: Connect;
  private readonly finisher = new RecordFinisher();
  private opened: Opened | null = null;

  constructor(path: string, connect: Connect = connectDriver) {
    this.path = path;
    this.connect = connect;
  }

  /** Returns the number of requests stored; null, with none stored, when it needs all secrets again. @throws the driver's error */
  serve(request: CaptureWriterRequest): number | null {
    if (request.kind === 'close') {
      this.close();
      return 0;
    }
    const finished = this.finisher.finish(request.records, request.secrets);
    if (finished === null) return null;
    try {
      return this.write(finished, request.limits);
    } catch (error) {
      this.close();
      if (!isDamaged(error)) throw error;
      removeCaptureFile(this.path);
      return this.write(finished, request.limits);
    }
  }

  private write(finished: readonly NumberedRecord[], limits: CaptureLimits): number {
    const db = this.open();
    let stored = 0;
    if (finished.length > 0) {
      const insert = db.change('INSERT OR IGNORE INTO request VALUES (?, ?, ?, ?, ?, ?, ?)');
      inTransaction(db, () => {
        for (const { number, head, body } of finished) {
          const { profile, route, outcome, reason } = head;
          stored += insert(number, profile, route, outcome, reason, JSON.stringify(head), body);
        }
      });
    }
    trim(db, limits);
    return stored;
  }

  /** If the file was removed meanwhile, a new one is created. */
  private open(): Connection {
    if (this.opened !== null && this.opened.inode !== inodeOf(this.path)) this.close();
    if (this.opened === null) {
      const db = openCaptureFile(this.connect, this.path);
      this.opened = { db, inode: inodeOf(this.path) };
    }
    return this.opened.db;
  }

  private close(): void {
    this.opened?.db.close();
    this.opened = null;
  }
}

/** Removes expired requests, then the oldest ones until the file is small enough, a slice at a time. */
function trim(db: Connection, { before, maxBytes }: CaptureLimits): void {
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
  if (removed > 0) db.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
}

/** The number after the oldest rows that together have `excess` bytes; null when there are no rows. */
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
