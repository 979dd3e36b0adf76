/** Applies changes within a transaction. */
import type Database from 'libsql';
import type { Mutation, MutationResults, Ref } from '../mutations.ts';
import { applyMutation } from '../mutations.ts';
import type { InsertDispatch } from './accept.ts';
import { createAdvancer } from './advance.ts';
import type { Batch } from './batch-text.ts';
import { createTakeClaim } from './claims.ts';
import { createHandlers } from './handlers.ts';
import { createCommandNumbers } from './numbering.ts';
import { OpenRows } from './open-rows.ts';
import type { NewDispatch } from './table-rows.ts';
import { dispatchRow, TableRows } from './table-rows.ts';
import { createTallyWriter } from './tally-writer.ts';

/** A change, and the number of the dispatch that it stores, should it store one; null: the next of a command. */
export interface Change {
  readonly ref: Ref | null;
  readonly mutation: Mutation;
}

type Result = MutationResults[keyof MutationResults];

export interface Applier {
  /** First in every transaction. */
  begin(): void;
  apply(change: Change): Result;
  /** What batches of the journal bring. Each of their dispatches becomes one row, with its end should they bring it. */
  applyBatches(batches: readonly Batch[]): void;
  /** Last in every transaction. */
  finish(): void;
  /** After a rollback. */
  discard(): void;
}

export function createApplier(db: Database.Database): Applier {
  const tally = createTallyWriter(db);
  const open = new OpenRows();
  const advancer = createAdvancer(db, open, tally);
  const rows = new TableRows(db, open, tally);
  const commandNumber = createCommandNumbers(db);
  /** Of the change at hand. */
  let given: Ref | null = null;
  const insert: InsertDispatch = ({ dispatch, max_concurrent }, state, readyAt) => {
    const ref = given ?? commandNumber();
    const row = dispatchRow(dispatch, JSON.stringify(dispatch), max_concurrent);
    rows.add({ ...{ ref, row, state, readyAt, claim: null, expiresAt: null, ended: null } });
    rows.flush();
    return ref;
  };
  const handlers = createHandlers(db, { claim: createTakeClaim(db), insert, advancer, tally });
  // Another number whenever another connection has written (https://www.sqlite.org/pragma.html#pragma_data_version).
  const dataVersion = db.prepare('PRAGMA data_version').raw();
  let version: number | null = null;
  return {
    begin() {
      const [found] = dataVersion.get([]) as [number];
      if (found !== version) open.forgetAll();
      version = found;
    },
    apply({ ref, mutation }) {
      given = ref;
      return applyMutation(handlers, mutation);
    },
    applyBatches(batches) {
      const fresh = new Map<Ref, NewDispatch>();
      for (const { dispatches, ends } of batches) {
        for (const dispatch of dispatches) fresh.set(dispatch.ref, dispatch);
        for (const end of ends) {
          const dispatch = fresh.get(end.ref);
          if (dispatch === undefined) advancer.advance(end);
          else dispatch.ended = end;
        }
      }
      for (const dispatch of fresh.values()) rows.add(dispatch);
      rows.flush();
    },
    finish: () => tally.flush(),
    discard() {
      version = null;
      open.forgetAll();
      rows.discard();
      tally.discard();
    },
  };
}
