/** Makes a change inside the transaction of its group: in a unit of work, or by statements of its own. */
import { messageOf } from '../../../base/message-of.ts';
import type { CommitResult, EncodedChange, Headed, LargeTexts } from '../encode.ts';
import { decodeChange } from '../encode.ts';
import type { Ref } from '../identity.ts';
import type { Mutation, MutationKind, MutationResults } from '../mutations.ts';
import type { DirectChange, DirectHandlers, DirectKind } from '../unit/apply.ts';
import { applyToUnit, isUnitChange } from '../unit/apply.ts';
import { createCleanup } from './cleanup.ts';
import { isMediumError } from './driver.ts';
import { createAddFigures } from './figures.ts';
import { createJobHandlers } from './jobs.ts';
import type { WriterRows } from './rows.ts';
import { createRecover, createTakeWork } from './take-work.ts';

function createDirectHandlers(rows: WriterRows): DirectHandlers {
  const makeGroupsDue = rows.db.change(
    'UPDATE work SET due_at = ?1, set_at = ?1 WHERE ref IN (SELECT ref FROM coalesce_group)',
  );
  return {
    take_work: createTakeWork(rows),
    flush_groups({ now }) {
      makeGroupsDue(now);
      rows.memory.runs.reload();
      return null;
    },
    recover: createRecover(rows),
    ...createCleanup(rows),
    ...createJobHandlers(rows),
    add_figures: createAddFigures(rows.db),
  };
}

/**
 * Returns a function that applies one change. With `again` the change may have been made before: then a stored dispatch is
 * not stored twice, and no work is taken. The function throws when the medium fails.
 */
export function createApply(rows: WriterRows): (encoded: EncodedChange, again: boolean) => CommitResult {
  const direct = createDirectHandlers(rows);
  const make = (change: Headed<Mutation>, texts: LargeTexts): MutationResults[MutationKind] => {
    if (isUnitChange(change)) return rows.inUnit((unit) => applyToUnit(unit, change, texts));
    const handler = direct[change.kind] as (change: DirectChange) => MutationResults[DirectKind];
    return handler(change);
  };
  return (encoded, again) => {
    const [, body, answer] = encoded;
    try {
      const change = decodeChange(encoded);
      // The process that wrote it releases what it may hold with `recover`.
      if (again && change.kind === 'take_work') return { kind: 'unknown', message: 'a thread of the store has ended' };
      // That of an `advance` is stored in any case, and the change can be made again: once it is made, it is refused.
      const id = 'dispatch' in change && change.kind !== 'advance' ? change.dispatch?.id : undefined;
      const stored = again && id !== undefined ? findStored(rows, id) : null;
      return { kind: 'ok', value: stored ?? make(change, { body, answer }) };
    } catch (error) {
      if (isMediumError(error)) throw error;
      return { kind: 'failed', message: messageOf(error) };
    }
  };
}

/** The result of a change whose dispatch was stored before. */
function findStored({ db }: WriterRows, id: string): MutationResults['join_group'] | null {
  const [ref, head, due_at] =
    db
      .query<[Ref, string, number]>('SELECT ref, d.head, w.due_at FROM dispatch d JOIN work w USING (ref) WHERE id = ?')
      .get(id) ?? [];
  if (ref === undefined || head === undefined || due_at === undefined) return null;
  return { kind: 'stored', ref, superseded: (JSON.parse(head) as [string, string, null, number])[3], due_at };
}
