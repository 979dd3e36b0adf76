/**
 * Where dispatches are before they are in their tables. Under load a batch is committed as one text (staged), which is
 * all that an acknowledgement needs, and moved into the tables later, when most of its dispatches have ended: each is
 * then one insert where it would have been an insert and an update, and many share a page.
 *
 * A dispatch is either staged or in the tables, and there as it is now: what the tables show is never out of date, only
 * what was accepted last may be missing. This connection knows all that is staged; whoever else opens the database to
 * write moves it into the tables first.
 */
import type Database from 'libsql';
import type { MutationResults, Ref } from '../mutations.ts';
import type { Advancer } from './advance.ts';
import { allows } from './advance.ts';
import type { Accepted, AdvanceRow } from './changes.ts';
import type { IsHeld } from './claims.ts';
import { createIsHeld } from './claims.ts';
import type { OpenRows } from './open-rows.ts';
import type { StagedBatches } from './staged-batches.ts';
import { createStagedBatches } from './staged-batches.ts';
import type { NewDispatch, TableRows } from './table-rows.ts';

export interface StagingParts {
  readonly rows: TableRows;
  readonly advancer: Advancer;
  readonly open: OpenRows;
}

/** What a batch brings. */
class Draft {
  readonly dispatches: NewDispatch[] = [];
  readonly ends: AdvanceRow[] = [];
}

interface Staged {
  readonly seq: number;
  readonly dispatches: readonly NewDispatch[];
}

/** What there is to move, as far as this connection knows. */
export interface StagedState {
  /** True: there is something to move, or nobody knows. */
  readonly hasStaged: boolean;
  /** Dispatches that are not in the tables. */
  readonly size: number;
}

export class Staging implements StagedState {
  private readonly parts: StagingParts;
  private readonly table: StagedBatches;
  private readonly dataVersion: Database.Statement;
  private readonly lastStored: Database.Statement;
  private readonly isHeld: IsHeld;
  private readonly isStored: Database.Statement;
  /** Of the database when it was last looked at; null: what is known here may be wrong. */
  private version: number | null = null;
  /** Oldest first. */
  private staged: Staged[] = [];
  private draft = new Draft();
  /** What is not in the tables yet: by number, by its own id, and its claims with their expiry. */
  private readonly dispatches = new Map<Ref, NewDispatch>();
  private readonly ids = new Set<string>();
  private readonly claims = new Map<string, number | null>();
  private last: Ref | null = null;

  constructor(db: Database.Database, parts: StagingParts) {
    this.parts = parts;
    this.table = createStagedBatches(db);
    // Another number whenever another connection has written (https://www.sqlite.org/pragma.html#pragma_data_version).
    this.dataVersion = db.prepare('PRAGMA data_version').raw();
    this.lastStored = db.prepare('SELECT coalesce(max(ref), 0) FROM dispatch').raw();
    this.isHeld = createIsHeld(db);
    this.isStored = db.prepare('SELECT 1 FROM dispatch WHERE id = ?').raw();
  }

  get hasStaged(): boolean {
    return this.version === null || this.staged.length > 0;
  }

  get size(): number {
    return this.dispatches.size;
  }

  /** At the start of each transaction: takes note of what others have written. */
  begin(): void {
    const [version] = this.dataVersion.get([]) as [number];
    if (version === this.version) return;
    this.forgetAll();
    for (const { seq, dispatches, ends } of this.table.all()) {
      for (const dispatch of dispatches) this.know(dispatch);
      // One that is in its table by now has taken its end along.
      for (const end of ends) this.endStaged(end);
      this.staged.push({ seq, dispatches });
    }
    this.version = version;
  }

  /** @throws Error when the dispatch's own id is taken */
  accept(change: Accepted): MutationResults['accept'] {
    const { row, claim, expires_at: expiresAt, now } = change;
    const { id } = row;
    if (claim !== null && this.holds(claim, now)) return { kind: 'duplicate' };
    if (this.ids.has(id) || this.isStored.get([id]) !== undefined) throw new Error(`dispatch ${id} is stored already`);
    return { kind: 'stored', ref: this.insert({ row, state: 'pending', readyAt: now, claim, expiresAt }) };
  }

  insert({ row, state, readyAt, claim, expiresAt }: Omit<NewDispatch, 'ref' | 'ended'>): Ref {
    this.last ??= Math.max((this.lastStored.get([]) as [Ref])[0], ...this.dispatches.keys());
    const dispatch: NewDispatch = { ref: ++this.last, row, state, readyAt, claim, expiresAt, ended: null };
    this.know(dispatch);
    this.draft.dispatches.push(dispatch);
    return dispatch.ref;
  }

  /** False: unknown, or the way is barred. */
  end(end: AdvanceRow): boolean {
    if (!this.dispatches.has(end.ref)) return this.parts.advancer.advance(end) !== null;
    if (!this.endStaged(end)) return false;
    this.draft.ends.push(end);
    return true;
  }

  /** Commits what this batch brought as one text, to be moved into the tables later. */
  stage(): void {
    const { draft } = this;
    this.draft = new Draft();
    const { dispatches, ends } = draft;
    if (dispatches.length + ends.length > 0) this.staged.push({ seq: this.table.add(draft), dispatches });
  }

  /** Moves everything into the tables. */
  flush(): void {
    this.moveStaged(Number.POSITIVE_INFINITY);
    this.move([this.draft]);
    this.draft = new Draft();
  }

  /** Moves the oldest batches into the tables, until there were `dispatches` of them. */
  moveStaged(dispatches: number): void {
    const oldest: Staged[] = [];
    for (let left = dispatches; left > 0; ) {
      const batch = this.staged.shift();
      if (batch === undefined) break;
      oldest.push(batch);
      left -= batch.dispatches.length;
    }
    this.move(oldest);
    const last = oldest.at(-1);
    if (last !== undefined) this.table.remove(last.seq);
  }

  /** After a rollback. */
  discard(): void {
    this.forgetAll();
    this.parts.rows.discard();
  }

  private move(batches: readonly { readonly dispatches: readonly NewDispatch[] }[]): void {
    const { rows } = this.parts;
    for (const { dispatches } of batches) {
      for (const dispatch of dispatches) {
        rows.add(dispatch);
        this.forget(dispatch);
      }
    }
    rows.flush();
  }

  private holds(claim: string, now: number): boolean {
    return (this.claims.get(claim) ?? 0) > now || this.isHeld(claim, now);
  }

  /** False: not staged, or the way is barred. */
  private endStaged(end: AdvanceRow): boolean {
    const dispatch = this.dispatches.get(end.ref);
    if (dispatch === undefined || dispatch.ended !== null || !allows(dispatch.state, end)) return false;
    dispatch.ended = end;
    return true;
  }

  private know(dispatch: NewDispatch): void {
    this.dispatches.set(dispatch.ref, dispatch);
    this.ids.add(dispatch.row.id);
    if (dispatch.claim !== null) this.claims.set(dispatch.claim, dispatch.expiresAt);
  }

  private forget({ ref, row, claim, expiresAt }: NewDispatch): void {
    this.dispatches.delete(ref);
    this.ids.delete(row.id);
    // A later dispatch may hold the id by now.
    if (claim !== null && this.claims.get(claim) === expiresAt) this.claims.delete(claim);
  }

  private forgetAll(): void {
    this.version = null;
    this.last = null;
    this.staged = [];
    this.draft = new Draft();
    this.dispatches.clear();
    this.ids.clear();
    this.claims.clear();
    this.parts.open.forgetAll();
  }
}
