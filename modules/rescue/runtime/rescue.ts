/** The module's part of the SQLite engine, for when a file is opened, written, read and closed. */
import { existsSync, statSync } from 'node:fs';
import { messageOf } from '../../../base/errors.ts';
import { removeSynced } from '../../../runtime/platform/files.ts';
import { startEntry } from '../../../runtime/platform/process/threads.ts';
import { StoreRefused, StoreUnavailable } from '../../../runtime/store/contract.ts';
import { decodeOr } from '../../../runtime/store/decode.ts';
import type { DamageReport } from '../../../runtime/store/queries.ts';
import type { Connect, Connection } from '../../../runtime/store/sqlite/driver.ts';
import { connect, inTransaction } from '../../../runtime/store/sqlite/driver.ts';
import { createFile } from '../../../runtime/store/sqlite/file-lock.ts';
import { emptyLog, openWriting } from '../../../runtime/store/sqlite/open-database.ts';
import type { ReaderRequest } from '../../../runtime/store/sqlite/read.ts';
import type { Findings, Rescue, WriterRescue } from '../../../runtime/store/sqlite/rescue.ts';
import type { StoreThreadData } from '../../../runtime/store/sqlite/serve-store.ts';
import type { Client } from '../../../runtime/store/sqlite/thread.ts';
import { ThreadClient } from '../../../runtime/store/sqlite/thread.ts';
import { hasNote, logMarkPath } from '../../../runtime/store/store-path.ts';
import { backUp, checkFile } from './backup.ts';
import { quarantineRows, readQuarantine } from './damaged-rows.ts';
import { isOtherFile, markClosed, markOpen, putLife, readAlone, readLife, readNote, readState } from './store-note.ts';
import { isClosedBesideMark, markLog, quarantineDamagedLog, quarantineForeignLog } from './wal-damage.ts';

/** Maximum number of damaged rows that a log line names. */
const NAMED_ROWS = 20;
const THREAD = new URL('./rescue-thread.js', import.meta.url);

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
      // Once the file alone identifies the mark as its own.
      if (isMarked && marked !== db && markLog(db, path)) marked = db;
    },
    quarantine: (db) => quarantineRows(db, Date.now()),
    noteChecked,
    closing(db) {
      // Only an open file has a marked log.
      removeSynced(logMarkPath(path));
      markClosed(db);
    },
  };
}

/** See WriterRescue. */
function examine(open: Connect, path: string, now: number): (db: Connection) => Findings {
  const [bytes, logBytes] = [path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false })?.size ?? 0);
  if (bytes === 0 && (hasNote(path) || (logBytes !== 0 && !existsSync(path)))) throw new StoreRefused(gone(path));
  createFile(path);
  const alone = <T>(read: (db: Connection) => T): T | undefined =>
    bytes === 0 ? undefined : readAlone(open, path, read);
  const life = alone(readLife);
  const note = readNote(path);
  const isOther = isOtherFile(life, note) || isClosedBesideMark(path, life);
  const lost = isOther ? quarantineForeignLog(path, now) : quarantineDamagedLog(path, now, life, alone(readState));
  const unclean = !isOther && (logBytes !== 0 || life?.is_open === true);
  return (db) => {
    if (unclean || lost !== null) db.change("INSERT OR IGNORE INTO meta VALUES ('unclean_stop_found', ?)")(String(now));
    if (lost !== null) putMeta(db, 'damage', JSON.stringify(lost));
    // From now on it is this home's file. The damage is stored above, so that the next opening does not report it
    // again.
    if (isOther && note !== null) putLife(db, { ...note, is_open: false });
    else markClosed(db);
    if (lost !== null || life?.is_open === true) emptyLog(db);
    return { ...known(db), aside: quarantineRows(db, now) };
  };
}

const gone = (path: string): string =>
  `${path} is missing or empty, but this home had a store. Restore a copy: hookwright store restore <file>; ` +
  'or start with an empty store: hookwright store new';

function known(db: Connection): Omit<Findings, 'aside'> {
  const found = getMeta(db, 'unclean_stop_found');
  const damage = getReport(db, 'damage');
  const broken = getReport(db, 'broken_file');
  const isNew = found !== null && (damage?.at ?? 0) >= Number(found);
  return { unchecked: found !== null || broken !== null, damage: isNew ? damage : null, broken };
}

/** Records that the whole file was checked. @param broken null: it is intact */
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

/** A separate reader for the whole file. The next start or command can repeat its work. */
function readerOf(path: string): Client<ReaderRequest> {
  const data: StoreThreadData = { role: 'reader', path, durability: 'full', parts: [] };
  return new ThreadClient(
    () => startEntry(THREAD, data),
    () => {},
  );
}

/**
 * Copies the file, even while others write it. Rejects with StoreUnavailable; then there is no copy. @param to absolute
 * path
 */
export async function copyStore(path: string, to: string): Promise<{ readonly bytes: number }> {
  const reader = readerOf(path);
  try {
    return { bytes: await reader.ask<number>({ kind: 'read_whole', to }) };
  } catch (error) {
    throw new StoreUnavailable(`cannot read the store: ${messageOf(error)}`);
  } finally {
    await reader.end({ kind: 'close' });
  }
}

/** Reports damage in the log, and checks the whole file after an unclean stop, or when it was damaged. */
const watchStore: Rescue['store'] = ({ path, isServer, log, now }, noteChecked) => {
  const checker = readerOf(path);
  let isDamageNoted = false;
  let isClosing = false;
  const report = (broken: string): DamageReport => {
    const damage = { at: now(), message: `${path} is damaged: ${broken}`, copy: null };
    log.error({}, damage.message);
    return damage;
  };
  /** @param before damage that an earlier check found, which is not logged again */
  const check = async (before: DamageReport | null): Promise<void> => {
    try {
      const broken = await checker.ask<string | null>({ kind: 'read_whole', to: null });
      // Once the store is closed, a request would restart the writer, and nothing would stop it.
      if (isClosing) return;
      await noteChecked(broken === null ? null : (before ?? report(broken)));
    } catch (error) {
      if (!isClosing) log.warn({ reason: messageOf(error) }, 'cannot check the store; the next start checks it again');
    } finally {
      void checker.end({ kind: 'close' });
    }
  };
  const quarantined = (rows: readonly string[]): void => {
    const found = { rows: rows.slice(0, NAMED_ROWS), count: rows.length };
    log.error(found, 'quarantined damaged rows of the store: hookwright deliveries list --state dead');
  };
  return {
    opened({ aside, damage, unchecked, broken }) {
      if (aside.length > 0) quarantined(aside);
      if (damage !== null) log.error({ copy: damage.copy }, damage.message);
      // A command leaves the check to a server.
      if (unchecked && isServer) void check(broken);
    },
    quarantined,
    // This is logged once, and stored for `status` and `doctor`.
    async malformed(message) {
      if (isDamageNoted) return;
      isDamageNoted = true;
      await noteChecked(report(message)).catch(() => {});
    },
    exit: () => markExit(path),
    close() {
      isClosing = true;
      return checker.end({ kind: 'close' });
    },
  };
};

/**
 * When a process exits, the connections of its threads end, and the last one empties and removes the log. Without the
 * mark of a clean stop, this would look as if the log had been deleted.
 */
function markExit(path: string): void {
  try {
    const db = openWriting(connect, path, 'normal');
    markClosed(db);
    db.close();
  } catch {
    // The medium fails, or the writer was stopped within a transaction.
  }
}

export const sqliteRescue: Rescue = {
  thread: THREAD,
  writer: watchWriter,
  store: watchStore,
  readWhole: (open, to) => (to === null ? checkFile(open) : backUp(open(), to)),
  damage: (db) => getReport(db, 'broken_file') ?? unseen(getReport(db, 'damage')) ?? readQuarantine(db),
};
