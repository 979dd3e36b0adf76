/** Brings what the journal holds into the tables: on the writer thread up to where it is told, after a kill all of it. */
import type Database from 'libsql';
import type { Place } from '../journal/journal.ts';
import { JournalReader } from '../journal/read-journal.ts';
import { readSegment, removeSegments, SEGMENTS } from '../journal/segments.ts';
import type { Batch } from './batch-text.ts';
import { readBatch } from './batch-text.ts';
import type { Transactions } from './commit.ts';
import { createMark, storeName } from './journal-mark.ts';
import { StoreRefused } from './open-database.ts';

/** Dispatches of one transaction at least: what waits for the writer meanwhile waits that long. */
const SLICE = 256;

export class Follower {
  private readonly transactions: Transactions;
  private readonly reader: JournalReader;
  private number: number;
  private target: Place | null = null;

  constructor(path: string, db: Database.Database, transactions: Transactions) {
    this.transactions = transactions;
    this.number = createMark(db).get();
    this.reader = new JournalReader(path, this.number);
  }

  /** Number of the last record that is in the tables. */
  get done(): number {
    return this.number;
  }

  /** Records up to here may be followed. */
  aim(target: Place): void {
    this.target = target;
  }

  /** Follows up to where it may. @returns null, or why it had to stop before */
  follow(): string | null {
    const { target } = this;
    while (target !== null && this.number < target.number) {
      const refused = this.followSlice(target);
      if (refused === null) continue;
      this.reader.restart(this.number);
      return refused;
    }
    return null;
  }

  private followSlice(target: Place): string | null {
    const batches: Batch[] = [];
    let { number } = this;
    try {
      for (let dispatches = 0; dispatches < SLICE && number < target.number; ) {
        const record = this.reader.next(target);
        const batch = readBatch(record.text);
        batches.push(batch);
        dispatches += batch.dispatches.length;
        ({ number } = record);
      }
    } catch (error) {
      return `the journal cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    }
    const refused = this.transactions.follow(batches, number);
    if (refused === null) this.number = number;
    return refused;
  }

  close(): void {
    this.reader.close();
  }
}

/**
 * What a killed server has left in its journal: brings it into the tables and removes it. Each commit on this connection
 * must be on the disk when it is done.
 * @throws StoreRefused when the journal belongs to another database, or cannot be followed.
 */
export function followAll(path: string, db: Database.Database, transactions: Transactions): void {
  const mark = createMark(db).get();
  const segments = SEGMENTS.flatMap((index) => readSegment(path, index) ?? []);
  const name = storeName(db);
  if (segments.some(({ head }) => head.store !== name)) {
    throw new StoreRefused(
      `the journal beside ${path} belongs to another database, and holds what that one does not know yet: ` +
        'put that one back, or move the journal away',
    );
  }
  const records = segments.flatMap((segment) => segment.records).filter(({ number }) => number > mark);
  records.sort((a, b) => a.number - b.number);
  for (let at = 0; at < records.length; at += SLICE) {
    const slice = records.slice(at, at + SLICE);
    const refused = transactions.follow(
      slice.map(({ text }) => readBatch(text)),
      slice.at(-1)?.number ?? mark,
    );
    if (refused !== null) throw new StoreRefused(`cannot go on where ${path} was left: ${refused}`);
  }
  removeSegments(path);
}
