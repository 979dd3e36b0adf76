/**
 * A store in memory for tests: simple and slow, with each rule of ../../runtime/store/contract.ts implemented a second
 * time, in plain maps. It passes the conformance suite, and engines are compared with it.
 */
import type { Mutation, MutationResults, Store, WrittenAs } from '../../runtime/store/contract.ts';
import { StoreUnavailable } from '../../runtime/store/contract.ts';
import type { Query, QueryResults } from '../../runtime/store/queries.ts';
import type { Together } from '../../runtime/store/together.ts';
import { approvalHandlers } from './memory-store/approvals.ts';
import { dispatchHandlers } from './memory-store/dispatches.ts';
import { figureHandlers } from './memory-store/figures.ts';
import { guardHandlers } from './memory-store/guard.ts';
import type { MutationHandlers } from './memory-store/handlers.ts';
import { answerQuery, applyMutation } from './memory-store/handlers.ts';
import { jobHandlers } from './memory-store/jobs.ts';
import { messageHandlers } from './memory-store/messages.ts';
import { queryHandlers } from './memory-store/queries.ts';
import { retentionHandlers } from './memory-store/retention.ts';
import type { MemoryTables } from './memory-store/tables.ts';
import { createTables, settleTurns } from './memory-store/tables.ts';
import { workHandlers } from './memory-store/work.ts';

export interface MemoryStore extends Store {
  /** `read` without a promise, for assertions. */
  look<Q extends Query>(query: Q): QueryResults[Q['kind']];
  /** The data that would outlive a process, to open another store over it. */
  readonly tables: MemoryTables;
}

/** @param tables the data of another store */
export function createMemoryStore(tables: MemoryTables = createTables()): MemoryStore {
  const queries = queryHandlers(tables);
  const handlers: MutationHandlers = {
    ...dispatchHandlers(tables),
    ...messageHandlers(tables),
    ...guardHandlers(tables),
    ...approvalHandlers(tables),
    ...workHandlers(tables),
    ...jobHandlers(tables),
    ...retentionHandlers(tables),
    ...figureHandlers(tables),
  };
  const look = <Q extends Query>(query: Q): QueryResults[Q['kind']] => structuredClone(answerQuery(queries, query));
  return {
    tables,
    look,
    async write<M extends Mutation>(mutation: M, { together }: WrittenAs = {}): Promise<MutationResults[M['kind']]> {
      if (together?.isOpen === true) await decided(together);
      // Values without a JSON form cannot be stored, and stored values are copies.
      const result = applyMutation(handlers, JSON.parse(JSON.stringify(mutation)) as M);
      settleTurns(tables, 'now' in mutation ? mutation.now : 'at' in mutation ? mutation.at : 0);
      return result;
    },
    read: async (query) => look(query),
    problem: () => null,
    shared: null,
    state: null,
    close: async () => {},
  };
}

/** Resolves once all changes have come, in their order; rejects if one of their events is refused. */
const decided = (together: Together): Promise<void> =>
  new Promise((push, reject) =>
    together.add({ push, refuse: () => reject(new StoreUnavailable('refused')) }, () => {}),
  );
