/** What each change is carried out by, inside the transaction of its group. */
import type { Mutation, MutationKind, MutationResults } from '../mutations.ts';
import type { Headed, LargeTexts } from './encode.ts';

export type SqlHandlers = {
  readonly [K in MutationKind]: (
    mutation: Headed<Extract<Mutation, { kind: K }>>,
    texts: LargeTexts,
  ) => MutationResults[K];
};
