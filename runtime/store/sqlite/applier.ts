/** Applies changes within a transaction. */
import type Database from 'libsql';
import type { MutationResults } from '../mutations.ts';
import { applyMutation } from '../mutations.ts';
import type { InsertDispatch } from './accept.ts';
import { createAdvancer } from './advance.ts';
import type { Change } from './changes.ts';
import { dispatchRow } from './changes.ts';
import { createTakeClaim } from './claims.ts';
import { createHandlers } from './handlers.ts';
import { OpenRows } from './open-rows.ts';
import type { StagedState } from './staging.ts';
import { Staging } from './staging.ts';
import { TableRows } from './table-rows.ts';
import { createTallyWriter } from './tally-writer.ts';

/** Fewer changes, with what is staged already, go to their tables at once: whoever reads sees them then. */
const STAGED_FROM = 8;
/** Longer texts, in UTF-16 units, go to their tables at once: what is staged is written twice. */
const STAGED_CHARS = 256 * 1024;

type Result = MutationResults[keyof MutationResults];

export interface Applier {
  /** First in every transaction. */
  begin(): void;
  apply(change: Change): Result;
  /** Last in a transaction that applied changes. */
  finish(): void;
  /** Moves staged batches of about so many dispatches into their tables. */
  moveStaged(dispatches: number): void;
  /** After a rollback. */
  discard(): void;
  readonly staging: StagedState;
}

export interface ApplierOptions {
  /** Changes from which a batch is staged; `Infinity`: never. */
  readonly stagedFrom?: number | undefined;
}

export function createApplier(db: Database.Database, { stagedFrom = STAGED_FROM }: ApplierOptions): Applier {
  const tally = createTallyWriter(db);
  const open = new OpenRows();
  const advancer = createAdvancer(db, open, tally);
  const staging = new Staging(db, { rows: new TableRows(db, open, tally), advancer, open });
  const insert: InsertDispatch = ({ dispatch, max_concurrent }, state, readyAt) => {
    const row = dispatchRow(dispatch, max_concurrent);
    const ref = staging.insert({ row, state, readyAt, claim: null, expiresAt: null });
    staging.flush();
    return ref;
  };
  const handlers = createHandlers(db, { claim: createTakeClaim(db), insert, advancer, tally });
  /** Of the transaction at hand: its changes, the text they bring, and whether all of them can be staged. */
  let [changes, chars, canStage] = [0, 0, true];
  const isStaged = (): boolean => canStage && chars <= STAGED_CHARS && changes + staging.size >= stagedFrom;
  return {
    staging,
    begin() {
      [changes, chars, canStage] = [0, 0, true];
      staging.begin();
    },
    apply(change) {
      changes++;
      switch (change.kind) {
        case 'accepted':
          chars += change.row.body.length;
          return staging.accept(change);
        case 'ended':
          chars += change.row.answer?.length ?? 0;
          return staging.end(change.row);
        case 'other':
          canStage = false;
          staging.flush();
          return applyMutation(handlers, change.mutation);
      }
    },
    finish() {
      if (isStaged()) staging.stage();
      else staging.flush();
      tally.flush();
    },
    moveStaged(dispatches) {
      staging.moveStaged(dispatches);
      tally.flush();
    },
    discard() {
      staging.discard();
      tally.discard();
    },
  };
}
