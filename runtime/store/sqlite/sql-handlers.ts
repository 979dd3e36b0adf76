/** The handler of each kind of change; it runs inside the transaction of its group. */

import type { Headed, LargeTexts } from '../encode.ts';
import type { Mutation, MutationKind, MutationResults } from '../mutations.ts';

export type SqlHandlers = {
  readonly [K in MutationKind]: (
    mutation: Headed<Extract<Mutation, { kind: K }>>,
    texts: LargeTexts,
  ) => MutationResults[K];
};
