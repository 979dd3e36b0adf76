/** A change on its way to being stored, and who waits for it. */
import type { Mutation, MutationResults } from '../mutations.ts';
import { StoreUnavailable } from '../store.ts';
import type { CommitResult } from './commit.ts';

export type Result = MutationResults[keyof MutationResults];

/** Called with each change that was stored, before whoever waits for it. */
export type OnCommitted = (mutation: Mutation, result: Result) => void;

export class Pending {
  readonly mutation: Mutation;
  private readonly resolve: (result: never) => void;
  private readonly reject: (error: Error) => void;

  constructor(mutation: Mutation, resolve: (result: never) => void, reject: (error: Error) => void) {
    this.mutation = mutation;
    this.resolve = resolve;
    this.reject = reject;
  }

  stored(result: Result, committed: OnCommitted): void {
    committed(this.mutation, result);
    this.resolve(result as never);
  }

  settle(result: CommitResult, committed: OnCommitted): void {
    if (result.kind === 'ok') this.stored(result.value, committed);
    else if (result.kind === 'unavailable') this.refuse(result.message);
    else this.reject(new Error(`cannot store ${this.mutation.kind}: ${result.message}`));
  }

  /** Nothing of it was stored. */
  refuse(message: string): void {
    this.reject(new StoreUnavailable(message));
  }
}
