/** Makes a change inside the transaction of its group: in a unit of work, or by statements of its own. */
import { messageOf } from '../../../base/message-of.ts';
import type { CommitResult, EncodedChange, Headed, LargeTexts } from '../encode.ts';
import { decodeChange } from '../encode.ts';
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

/** Returns a function that applies one change. It throws when the medium fails. */
export function createApply(rows: WriterRows): (encoded: EncodedChange) => CommitResult {
  const direct = createDirectHandlers(rows);
  const make = (change: Headed<Mutation>, texts: LargeTexts): MutationResults[MutationKind] => {
    if (isUnitChange(change)) return rows.inUnit((unit) => applyToUnit(unit, change, texts));
    const handler = direct[change.kind] as (change: DirectChange) => MutationResults[DirectKind];
    return handler(change);
  };
  return (encoded) => {
    const [, body, answer] = encoded;
    try {
      return { kind: 'ok', value: make(decodeChange(encoded), { body, answer }) };
    } catch (error) {
      if (isMediumError(error)) throw error;
      return { kind: 'failed', message: messageOf(error) };
    }
  };
}
