/**
 * What a transaction inserts, gathered until it ends or until a change needs to see it: claims, dispatches, answers and
 * steps are most of what the writer has to do.
 */
import type Database from 'libsql';
import type { Ref } from '../mutations.ts';
import { RowBuffer } from './row-buffer.ts';

/** A claim that was taken for granted turned out to be held: the batch has to be applied again, one by one. */
export class ClaimHeld extends Error {
  override readonly name = 'ClaimHeld';
}

export class NewRows {
  readonly dispatches: RowBuffer;
  readonly work: RowBuffer;
  readonly answers: RowBuffer;
  readonly steps: RowBuffer;
  private readonly claims: RowBuffer;
  /** The earliest time at which one of the claims was made, unix ms. */
  private claimedAt = Number.POSITIVE_INFINITY;
  private last: Ref | null = null;
  private readonly readLast: Database.Statement;

  constructor(db: Database.Database) {
    const dispatch = 'id, profile, route, job, mode, accepted_at, max_concurrent, head, body';
    this.dispatches = new RowBuffer(db, `INSERT INTO dispatch (ref, ${dispatch})`, 10);
    this.work = new RowBuffer(db, 'INSERT INTO work (ref, state, ready_at)', 3);
    this.answers = new RowBuffer(db, 'INSERT OR REPLACE INTO answer (ref, text)', 2);
    this.steps = new RowBuffer(db, 'INSERT INTO step (id, data)', 2);
    this.claims = new RowBuffer(
      db,
      'INSERT INTO claim (key, expires_at)',
      2,
      'ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE claim.expires_at <= ?',
    );
    this.readLast = db.prepare('SELECT coalesce(max(ref), 0) FROM dispatch').raw();
  }

  /** The number of the next dispatch. */
  next(): Ref {
    this.last ??= (this.readLast.get([]) as [Ref])[0];
    return ++this.last;
  }

  /** Takes a delivery id for granted; `flush` finds out. */
  claim(key: string, expiresAt: number, now: number): void {
    this.claims.add(key, expiresAt);
    this.claimedAt = Math.min(this.claimedAt, now);
  }

  /** @throws ClaimHeld */
  flush(): void {
    const claimed = this.claims.size;
    if (claimed > 0) {
      const taken = this.claims.flush(this.claimedAt);
      this.claimedAt = Number.POSITIVE_INFINITY;
      if (taken < claimed) throw new ClaimHeld('a delivery id is held');
    }
    for (const rows of [this.dispatches, this.work, this.answers, this.steps]) if (rows.size > 0) rows.flush();
  }

  /** The transaction has ended: another process may have inserted since. */
  end(): void {
    this.last = null;
  }

  /** After a rollback. */
  discard(): void {
    this.end();
    this.claimedAt = Number.POSITIVE_INFINITY;
    for (const rows of [this.claims, this.dispatches, this.work, this.answers, this.steps]) rows.discard();
  }
}
