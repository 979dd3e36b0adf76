/** The SQL for each kind of change. A handler runs inside the transaction of its group. */
import { messageOf } from '../../../base/message-of.ts';
import type { CommitResult, EncodedChange, Headed, LargeTexts } from '../encode.ts';
import { decodeChange } from '../encode.ts';
import type { Mutation, MutationKind, MutationResults, Ref } from '../mutations.ts';
import { createAccept, createGroups } from './accept.ts';
import { createAdvance, createRecordAttempt } from './advance.ts';
import { createCleanup } from './cleanup.ts';
import { isMediumError } from './driver.ts';
import { createJobHandlers } from './jobs.ts';
import type { Rows } from './rows.ts';
import type { SqlHandlers } from './sql-handlers.ts';
import { createRecover, createTakeWork } from './take-work.ts';

function createHandlers(rows: Rows): SqlHandlers {
  return {
    accept: createAccept(rows),
    ...createGroups(rows),
    take_work: createTakeWork(rows),
    advance: createAdvance(rows),
    record_attempt: createRecordAttempt(rows),
    recover: createRecover(rows),
    ...createCleanup(rows),
    ...createJobHandlers(rows),
  };
}

/**
 * Returns a function that applies one change. With `again` the change may have been made before: then a stored dispatch is
 * not stored twice, and no work is taken. The function throws when the medium fails.
 */
export function createApply(rows: Rows): (encoded: EncodedChange, again: boolean) => CommitResult {
  const handlers = createHandlers(rows);
  return (encoded, again) => {
    const [, body, answer] = encoded;
    try {
      const change = decodeChange(encoded);
      // The process that wrote it releases what it may hold with `recover`.
      if (again && change.kind === 'take_work') return { kind: 'unknown', message: 'a thread of the store has ended' };
      const id = 'dispatch' in change ? change.dispatch?.id : undefined;
      const stored = again && id !== undefined ? findStored(rows, id) : null;
      const handler = handlers[change.kind] as (
        change: Headed<Mutation>,
        texts: LargeTexts,
      ) => MutationResults[MutationKind];
      return { kind: 'ok', value: stored ?? handler(change, { body, answer }) };
    } catch (error) {
      if (isMediumError(error)) throw error;
      return { kind: 'failed', message: messageOf(error) };
    }
  };
}

/** The result of a change whose dispatch was stored before. */
function findStored({ db }: Rows, id: string): MutationResults['join_group'] | null {
  const [ref, head, due_at] =
    db
      .query<[Ref, string, number]>('SELECT ref, d.head, w.due_at FROM dispatch d JOIN work w USING (ref) WHERE id = ?')
      .get(id) ?? [];
  if (ref === undefined || head === undefined || due_at === undefined) return null;
  return { kind: 'stored', ref, superseded: (JSON.parse(head) as [string, string, null, number])[3], due_at };
}
