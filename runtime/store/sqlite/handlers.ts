/** Every change as SQL, by its kind. A handler runs inside the transaction of its group. */
import type { Mutation, MutationKind, MutationResults } from '../mutations.ts';
import { createAccept, createGroups } from './accept.ts';
import { createAdvance, createRecordAttempt } from './advance.ts';
import { createCleanup } from './cleanup.ts';
import type { Headed, Texts } from './encode.ts';
import { createJobHandlers } from './jobs.ts';
import type { Rows } from './rows.ts';
import { createRecover, createTakeWork } from './take-work.ts';

export type SqlHandlers = {
  readonly [K in MutationKind]: (mutation: Headed<Extract<Mutation, { kind: K }>>, texts: Texts) => MutationResults[K];
};

export function createHandlers(rows: Rows): SqlHandlers {
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

/** Calls the handler of a change's kind. */
export function applyChange(
  handlers: SqlHandlers,
  change: Headed<Mutation>,
  texts: Texts,
): MutationResults[MutationKind] {
  const handler = handlers[change.kind] as (change: Headed<Mutation>, texts: Texts) => MutationResults[MutationKind];
  return handler(change, texts);
}
