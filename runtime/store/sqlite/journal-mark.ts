/** What the database says of its journal: which one is its own, and how far it is in the tables. */
import type Database from 'libsql';

export interface JournalMark {
  /** Number of the last record that is in the tables. */
  get(): number;
  /** Part of the transaction that brings the record there. */
  put(number: number): void;
}

export function createMark(db: Database.Database): JournalMark {
  const get = db.prepare("SELECT value FROM meta WHERE key = 'journal_mark'").raw();
  const put = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('journal_mark', ?)");
  return {
    get: () => Number((get.get([]) as readonly [string] | undefined)?.[0] ?? 0),
    put: (number) => void put.run([String(number)]),
  };
}

/** The name of the database, 32 hexadecimal digits: a journal of another one is none of ours. */
export function storeName(db: Database.Database): string {
  const [name] = db.prepare("SELECT value FROM meta WHERE key = 'store_name'").raw().get([]) as [string];
  return name;
}
