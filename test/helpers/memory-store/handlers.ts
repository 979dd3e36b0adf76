/** The tables of functions of the store in memory, and how they are called. */
import type { Mutation, MutationKind, MutationResults } from '../../../runtime/store/contract.ts';
import type { Query, QueryHandlers, QueryResults } from '../../../runtime/store/queries.ts';

export type MutationHandlers = {
  readonly [K in MutationKind]: (mutation: Extract<Mutation, { kind: K }>) => MutationResults[K];
};

export function applyMutation<M extends Mutation>(handlers: MutationHandlers, mutation: M): MutationResults[M['kind']] {
  const handler = handlers[mutation.kind] as (mutation: Mutation) => unknown;
  return handler(mutation) as MutationResults[M['kind']];
}

export function answerQuery<Q extends Query>(handlers: QueryHandlers, query: Q): QueryResults[Q['kind']] {
  const handler = handlers[query.kind] as (query: Query) => unknown;
  return handler(query) as QueryResults[Q['kind']];
}
