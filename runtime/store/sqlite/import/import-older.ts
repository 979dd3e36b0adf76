/** Migrates the store of an older version: its tables, and the log that a killed server left beside them. */
import { renameSync, rmSync } from 'node:fs';
import type { DamageReport } from '../../queries.ts';
import { StoreRefused } from '../../store.ts';
import type { Connection } from '../driver.ts';
import { createRows } from '../rows.ts';
import { FORMAT, formatOf } from '../schema.ts';
import { inTransaction } from '../transaction.ts';
import { asideName } from '../wal-damage.ts';
import type { LoggedDispatch, LoggedEnd, LogRecord, Segment } from './log-segments.ts';
import { readSegment } from './log-segments.ts';
import { upgrade } from './upgrade.ts';

/**
 * Once a log is in the tables, its files are removed, or moved aside when damaged; a start that is killed in between
 * imports nothing twice. Returns the damage that was found.
 * @param now Unix ms
 */
export function importOlder(
  db: Connection,
  path: string,
  logFiles: readonly string[],
  now: number,
): DamageReport | null {
  const segments = logFiles.flatMap((file) => readSegment(file) ?? []);
  inTransaction(db, () => {
    if (formatOf(db) < FORMAT) upgrade(db);
    importLog(db, path, segments);
  });
  let copy: string | null = null;
  for (const { file } of segments.filter(({ isDamaged }) => isDamaged)) {
    copy = asideName(file, now);
    renameSync(file, copy);
  }
  for (const file of logFiles) rmSync(file, { force: true });
  const message = `the log that an older version left beside ${path} was damaged: some of what it had accepted is lost`;
  return copy === null ? null : { at: now, message, copy };
}

function importLog(db: Connection, path: string, segments: readonly Segment[]): void {
  const meta = db.query<[string]>('SELECT value FROM meta WHERE key = ?');
  const name = meta.get('store_name')?.[0];
  if (segments.some(({ store }) => store !== null && store !== name)) {
    throw new StoreRefused(
      `the log beside ${path} belongs to another database, and holds what that one does not know yet: ` +
        'put that one back, or move the log away',
    );
  }
  const mark = Number(meta.get('journal_mark')?.[0] ?? 0);
  const records = segments.flatMap((segment) => segment.records).filter(({ number }) => number > mark);
  if (records.length === 0) return;
  records.sort((a, b) => a.number - b.number);
  importRecords(db, records);
  db.change("INSERT OR REPLACE INTO meta VALUES ('journal_mark', ?)")(String(records.at(-1)?.number ?? mark));
}

function importRecords(db: Connection, records: readonly LogRecord[]): void {
  const rows = createRows(db);
  const put = (entry: LoggedDispatch): void => {
    const { ref, dispatch: head, body, max_concurrent, accepted_at: now, expires_at } = entry;
    const texts = { body, answer: null };
    rows.insert({ ref, head, texts, max_concurrent, state: 'pending', due_at: now, now });
    const { profile, route, delivery_id } = head;
    if (expires_at !== null) rows.claim({ profile, route: route ?? '', delivery_id, expires_at });
  };
  const end = ({ ref, to, at, started_at, reason, answer, steps }: LoggedEnd): void => {
    const found = rows.find(ref);
    if (found !== undefined) rows.move(ref, found, { to, at, started_at, reason, answer, steps });
  };
  for (const entry of records.flatMap(({ entries }) => entries)) {
    if (entry.kind === 'dispatch') put(entry);
    else end(entry);
  }
  rows.counts.flush();
}
