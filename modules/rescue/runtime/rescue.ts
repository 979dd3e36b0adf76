/** The module's part of the SQLite engine: what it does when a file is opened, written, read and closed. */
import { existsSync, statSync } from 'node:fs';
import { messageOf } from '../../../base/errors.ts';
import { startEntry } from '../../../runtime/platform/process/threads.ts';
import { StoreRefused } from '../../../runtime/store/contract.ts';
import { decodeOr } from '../../../runtime/store/decode.ts';
import type { DamageReport } from '../../../runtime/store/queries.ts';
import type { Connect, Connection } from '../../../runtime/store/sqlite/driver.ts';
import { connect, inTransaction } from '../../../runtime/store/sqlite/driver.ts';
import { createFile } from '../../../runtime/store/sqlite/file-lock.ts';
import { emptyLog, openWriting } from '../../../runtime/store/sqlite/open-database.ts';
import type {
  Findings,
  Rescue,
  RescueContext,
  StoreRescue,
  WriterRescue,
} from '../../../runtime/store/sqlite/rescue.ts';
import type { Client } from '../../../runtime/store/sqlite/thread.ts';
import { ThreadClient } from '../../../runtime/store/sqlite/thread.ts';
import { hasNote } from '../../../runtime/store/store-path.ts';
import type { WholeFileRequest } from './backup.ts';
import { readAside, setRowsAside } from './damaged-rows.ts';
import { isOtherFile, markClosed, markOpen, putLife, readLifeAlone, readNote } from './store-note.ts';
import { markLog, setDamagedAside, setOtherAside } from './wal-damage.ts';

/** Most damaged rows that a line of the log names. */
const NAMED_ROWS = 20;
const THREAD = new URL('./rescue-thread.js', import.meta.url);

export const rescue: Rescue = {
  thread: THREAD,
  writer: watchWriter,
  store: (context) => new Watch(context),
  damage: (db) => getReport(db, 'broken_file') ?? unseen(getReport(db, 'damage')) ?? readAside(db),
};

function watchWriter(path: string): WriterRescue {
  let isMarked = false;
  /** The connection whose log is marked. */
  let marked: Connection | null = null;
  return {
    examine: (open, now) => examine(open, path, now),
    committing(db) {
      isMarked ||= markOpen(db, path);
    },
    committed(db) {
      // Once the file alone says whose mark it is.
      if (isMarked && marked !== db && markLog(db, path)) marked = db;
    },
    setAside: (db) => setRowsAside(db, Date.now()),
    noteChecked,
    closing: markClosed,
  };
}

/** As WriterRescue says. */
function examine(open: Connect, path: string, now: number): (db: Connection) => Findings {
  const [bytes, logBytes] = [path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.size ?? 0);
  if (bytes === 0 && (hasNote(path) || (logBytes !== 0 && !existsSync(path)))) throw new StoreRefused(gone(path));
  createFile(path);
  const life = bytes === 0 ? undefined : readLifeAlone(open, path);
  const note = readNote(path);
  const isOther = isOtherFile(life, note);
  const lost = isOther ? setOtherAside(path, now) : setDamagedAside(path, now, life);
  const unclean = !isOther && (logBytes !== 0 || life?.is_open === true);
  return (db) => {
    if (unclean || lost !== null) db.change("INSERT OR IGNORE INTO meta VALUES ('unclean_stop_found', ?)")(String(now));
    if (lost !== null) putMeta(db, 'damage', JSON.stringify(lost));
    // From now on it is this home's file: what is said of it is stored above, and not found again by the next opening.
    if (isOther && note !== null) putLife(db, { ...note, is_open: false });
    else markClosed(db);
    if (lost !== null || life?.is_open === true) emptyLog(db);
    return { ...known(db), aside: setRowsAside(db, now) };
  };
}

const gone = (path: string): string =>
  `${path} is gone, or empty, and this home had a store. Put a copy back: hookwright store restore <file>; ` +
  'or begin anew, without what was stored: hookwright store new';

function known(db: Connection): Omit<Findings, 'aside'> {
  const found = getMeta(db, 'unclean_stop_found');
  const damage = getReport(db, 'damage');
  const broken = getReport(db, 'broken_file');
  const isNew = found !== null && (damage?.at ?? 0) >= Number(found);
  return { unchecked: found !== null || broken !== null, damage: isNew ? damage : null, broken };
}

/** Records that the whole file has been checked. @param broken null: it is intact */
function noteChecked(db: Connection, broken: DamageReport | null): void {
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

/** The report is no longer shown once the operator has removed the copy of the damaged file. */
const unseen = (damage: DamageReport | null): DamageReport | null =>
  damage === null || damage.copy === null || existsSync(damage.copy) ? damage : null;

export interface WholeFileData {
  readonly role: 'whole file';
  readonly path: string;
}

/** A thread of its own, because reading the whole file takes seconds. */
export const wholeFileThread = (path: string): Client<WholeFileRequest> =>
  // What it does can be left to the next start, or to the next command.
  new ThreadClient(
    () => startEntry(THREAD, { role: 'whole file', path } satisfies WholeFileData),
    () => {},
  );

/** Reports damage in the log, and has the whole file checked after an unclean stop, or when it was damaged. */
class Watch implements StoreRescue {
  private readonly context: RescueContext;
  /** Null: a command leaves the check to a server. */
  private readonly checker: Client<WholeFileRequest> | null;
  private isDamageNoted = false;
  private isClosing = false;

  constructor(context: RescueContext) {
    this.context = context;
    this.checker = context.isServer ? wholeFileThread(context.path) : null;
  }

  opened({ aside, damage, unchecked, broken }: Findings): void {
    if (aside.length > 0) this.setAside(aside);
    if (damage !== null) this.context.log.error({ copy: damage.copy }, damage.message);
    if (unchecked && this.checker !== null) void this.check(this.checker, broken);
  }

  setAside(rows: readonly string[]): void {
    const found = { rows: rows.slice(0, NAMED_ROWS), count: rows.length };
    const message = 'damaged rows of the store were set aside: hookwright deliveries list --state dead';
    this.context.log.error(found, message);
  }

  /** This is logged once, and kept for `status` and `doctor`. */
  async malformed(message: string): Promise<void> {
    if (this.isDamageNoted) return;
    this.isDamageNoted = true;
    await this.context.writer.ask({ kind: 'note_checked', broken: this.report(message) }).catch(() => {});
  }

  /**
   * The connections of the store's threads end then, and the last one empties the log and removes it: without the mark of a clean
   * stop that would look like a log that somebody has taken away.
   */
  exit(): void {
    try {
      const db = openWriting(connect, this.context.path, 'normal');
      markClosed(db);
      db.close();
    } catch {
      // The medium fails, or the writer was stopped within a transaction.
    }
  }

  async close(): Promise<void> {
    this.isClosing = true;
    await this.checker?.end({ kind: 'close' });
  }

  private report(broken: string): DamageReport {
    const { path, now, log } = this.context;
    const damage = { at: now(), message: `${path} is damaged: ${broken}`, copy: null };
    log.error({}, damage.message);
    return damage;
  }

  /** @param before damage that an earlier check found, which is not logged again */
  private async check(checker: Client<WholeFileRequest>, before: DamageReport | null): Promise<void> {
    const { writer, log } = this.context;
    try {
      const broken = await checker.ask<string | null>({ kind: 'check' });
      // Once closed, a request would start the writer again, and nothing would stop it.
      if (this.isClosing) return;
      await writer.ask({ kind: 'note_checked', broken: broken === null ? null : (before ?? this.report(broken)) });
    } catch (error) {
      if (!this.isClosing) log.warn({ reason: messageOf(error) }, 'cannot check the store: the next start tries again');
    } finally {
      void checker.end({ kind: 'close' });
    }
  }
}
