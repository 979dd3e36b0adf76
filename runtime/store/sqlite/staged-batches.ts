/** The table of batches that are committed as one text each, and not in their own tables yet. */
import type Database from 'libsql';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref } from '../mutations.ts';
import type { AdvanceRow } from './changes.ts';
import { dispatchRow } from './changes.ts';
import type { NewDispatch } from './table-rows.ts';

export interface Batch {
  readonly dispatches: readonly NewDispatch[];
  /** How staged dispatches of earlier batches have ended. */
  readonly ends: readonly AdvanceRow[];
}

export interface StagedBatch extends Batch {
  /** Grows from batch to batch. */
  readonly seq: number;
}

type DispatchText = [Ref, claim: unknown, expiresAt: number | null, readyAt: number, number | null, Dispatch];
type EndText = [
  Ref,
  AdvanceRow['to'],
  at: number,
  reason: unknown,
  started_at: number | null,
  answer: unknown,
  unknown[],
];

/** JSON of [dispatches, ends]. What is JSON already becomes part of it as it is. */
function writeBatch({ dispatches, ends }: Batch): string {
  const rows = dispatches.map(
    ({ ref, row, claim, expiresAt, readyAt }) =>
      `[${ref},${claim},${expiresAt},${readyAt},${row.max_concurrent},${row.body}]`,
  );
  const ended = ends.map(
    ({ ref, to, at, reason, started_at, answer, steps }) =>
      `[${ref},"${to}",${at},${reason},${started_at},${answer},[${steps.join(',')}]]`,
  );
  return `[[${rows.join(',')}],[${ended.join(',')}]]`;
}

function readBatch(text: string): Batch {
  const [dispatches, ends] = JSON.parse(text) as [DispatchText[], EndText[]];
  const jsonOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
  return {
    dispatches: dispatches.map(([ref, claim, expiresAt, readyAt, max_concurrent, dispatch]) => ({
      ...{ ref, row: dispatchRow(dispatch, max_concurrent), state: 'pending', readyAt },
      ...{ claim: jsonOf(claim), expiresAt, ended: null },
    })),
    ends: ends.map(([ref, to, at, reason, started_at, answer, steps]) => ({
      ...{ ref, to, at, reason: jsonOf(reason), ready_at: null, started_at, answer: jsonOf(answer) },
      steps: steps.map((step) => JSON.stringify(step)),
    })),
  };
}

export function hasStaged(db: Database.Database): boolean {
  return db.prepare('SELECT 1 FROM staged_batch LIMIT 1').get([]) !== undefined;
}

export interface StagedBatches {
  /** In the order in which they were added. */
  all(): readonly StagedBatch[];
  /** Answers its `seq`. */
  add(batch: Batch): number;
  /** Removes the batches up to `seq`. */
  remove(seq: number): void;
}

export function createStagedBatches(db: Database.Database): StagedBatches {
  const read = db.prepare('SELECT seq, changes FROM staged_batch ORDER BY seq').raw();
  const add = db.prepare('INSERT INTO staged_batch (changes) VALUES (?)');
  const remove = db.prepare('DELETE FROM staged_batch WHERE seq <= ?');
  return {
    all: () => (read.all([]) as [number, string][]).map(([seq, text]) => ({ seq, ...readBatch(text) })),
    add: (batch) => Number(add.run([writeBatch(batch)]).lastInsertRowid),
    remove: (seq) => void remove.run([seq]),
  };
}
