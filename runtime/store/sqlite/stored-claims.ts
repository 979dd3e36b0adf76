/**
 * The delivery ids that are in the database, for the one server, which makes all of them: nearly every id is new, and
 * known to be so without a query. Until a filter of all of them is made, in slices and beside the requests, the database
 * is asked for each.
 */
import type Database from 'libsql';
import { BloomFilter } from './bloom-filter.ts';
import type { ClaimsHeld } from './claims.ts';
import { createClaimsHeld } from './claims.ts';

/** Ids of the first filter; a full one is made anew for four times as many. */
const FIRST_CAPACITY = 65_536;
const GROWTH = 4;
/** Ids that are read in one go. */
const SLICE = 500;

export class StoredClaims {
  private filter: BloomFilter | null = null;
  /** The one that is being made. */
  private next: BloomFilter | null = null;
  private readonly query: ClaimsHeld;
  private readonly slice: Database.Statement;
  private readonly pending: () => Iterable<string>;
  private closed = false;

  /** @param pending ids that are claimed and not in the database yet */
  constructor(db: Database.Database, pending: () => Iterable<string>, firstCapacity = FIRST_CAPACITY) {
    this.query = createClaimsHeld(db);
    this.slice = db.prepare(`SELECT key FROM claim WHERE key > ? ORDER BY key LIMIT ${SLICE}`).raw();
    this.pending = pending;
    this.build(firstCapacity);
  }

  /**
   * Of ids that are to be claimed now those that are in the database, with their expiry (unix ms). From now on all of them
   * look as if they were, whatever becomes of it: that costs a query at most.
   */
  claim(keys: readonly string[]): ReadonlyMap<string, number> {
    this.grow();
    return this.query(keys.filter((key) => this.look(key)));
  }

  /** An id was claimed: it is in the database, or one of the pending ones. */
  note(key: string): void {
    this.grow();
    this.look(key);
  }

  close(): void {
    this.closed = true;
  }

  /** Notes an id. False: it is not in the database. */
  private look(key: string): boolean {
    this.next?.add(key);
    return this.filter?.add(key) ?? true;
  }

  /** Before ids are noted, for those that are not pending yet have to get into the next filter too. */
  private grow(): void {
    if (this.filter?.isFull === true && this.next === null) this.build(this.filter.capacity * GROWTH);
  }

  /** Makes a filter of what is in the database, and of what is added meanwhile. */
  private build(capacity: number): void {
    const next = new BloomFilter(capacity);
    this.next = next;
    for (const key of this.pending()) next.add(key);
    let after = '';
    const step = (): void => {
      if (this.closed) return;
      const keys = this.read(after);
      for (const key of keys ?? []) next.add(key);
      after = keys?.at(-1) ?? after;
      if (next.isFull) this.build(capacity * GROWTH);
      else if (keys?.length === SLICE) setImmediate(step).unref();
      else {
        this.next = null;
        if (keys !== null) this.filter = next;
      }
    };
    setImmediate(step).unref();
  }

  /** Null: the database cannot be read now, and goes on being asked for each id. */
  private read(after: string): readonly string[] | null {
    try {
      return (this.slice.all([after]) as [string][]).map(([key]) => key);
    } catch {
      return null;
    }
  }
}
