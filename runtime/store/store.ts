/**
 * What outlives the process: dispatches with their states, delivery ids, coalesce groups. The one thing about
 * persistence that the rest of the runtime knows; SQL stays in this folder.
 *
 * Acknowledged means stored: `write` resolves once its change is committed. Writes of one turn of the event loop, and
 * those that arrive while a commit is under way, share a transaction.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Group } from '../coalesce/group.ts';
import type { JobReader } from './job-mutations.ts';
import type { ClaimKey, Mutation, MutationResults, Ref, Step } from './mutations.ts';
import type { DispatchState, OpenState } from './states.ts';

/** The medium cannot take writes now: disk full, read-only, busy for too long. Nothing of the write was stored. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** What the queue needs to know of a dispatch that waits for work. */
export interface OpenDispatch {
  readonly ref: Ref;
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly mode: Dispatch['mode'];
  readonly state: OpenState;
  readonly max_concurrent: number | null;
  /** Earliest unix ms of its run. */
  readonly ready_at: number;
}

export interface StoredGroup extends Group {
  readonly profile: string;
  readonly route: string;
  readonly key: string;
  /** The dispatch that waits in it, and the cap of its route. */
  readonly ref: Ref;
  readonly max_concurrent: number | null;
}

/** One line of a list. */
export interface DispatchSummary {
  readonly ref: Ref;
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  readonly mode: Dispatch['mode'];
  readonly event: string;
  readonly delivery_id: string;
  readonly accepted_at: number;
  readonly state: DispatchState;
  readonly started_at: number | null;
  readonly answered_at: number | null;
  readonly finished_at: number | null;
  readonly reason: string | null;
  readonly replay_of: string | null;
}

/** Everything known of one dispatch. */
export interface StoredDispatch extends DispatchSummary {
  readonly dispatch: Dispatch;
  readonly max_concurrent: number | null;
  readonly answer: string | null;
  /** In the order in which they happened. */
  readonly steps: readonly Step[];
}

export interface ListQuery {
  readonly state?: DispatchState;
  readonly route?: string;
  readonly job?: string;
  /** Accepted at or after, unix ms. */
  readonly since?: number;
  /** Only those stored before this one: the way to the next page. */
  readonly before?: Ref;
  readonly limit: number;
}

/** Counts of one route since the store was created. `removed`: ended ones that retention has taken away. */
export interface Tally extends Readonly<Record<DispatchState, number>> {
  readonly profile: string;
  /** Null: scheduled runs. */
  readonly route: string | null;
  readonly accepted: number;
  readonly removed: number;
}

export interface LastError {
  readonly id: string;
  readonly route: string | null;
  readonly at: number;
  readonly reason: string;
}

/** Reading is synchronous, sees what is committed, and works beside a running server. */
export interface StoreReader {
  readonly jobs: JobReader;
  isClaimed(key: ClaimKey, now: number): boolean;
  load(ref: Ref): StoredDispatch | null;
  find(id: string): StoredDispatch | null;
  /** Unfinished dispatches after `after`, in order, without those that wait in a group. */
  open(after: Ref, limit: number): readonly OpenDispatch[];
  /** The same for one; null when it has ended, or waits in a group. */
  openOne(ref: Ref): OpenDispatch | null;
  /** The newest dispatch; 0 in an empty store. */
  last(): Ref;
  /** Dispatches that another process has put into the store. */
  inbox(limit: number): readonly Ref[];
  groups(): readonly StoredGroup[];
  /** Newest first. */
  list(query: ListQuery): readonly DispatchSummary[];
  tallies(): readonly Tally[];
  /** Unix ms at which the oldest unfinished dispatch was accepted. */
  oldestOpen(): number | null;
  lastError(): LastError | null;
  /** What does not add up, one line each: accepted = done + dead + skipped + pending + running + delivering. Slow. */
  audit(): readonly string[];
}

export interface Store extends StoreReader {
  /** `isClaimed` without a query: it may miss a claim, but what it says to be claimed is. */
  isKnownClaimed(key: ClaimKey, now: number): boolean;
  /** Resolves once all that `write` has resolved for can be read, which under load takes a moment. */
  settle(): Promise<void>;
  /** @throws StoreUnavailable (as a rejection) when nothing can be stored now. */
  write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]>;
  /** Waits for what is written, and closes. */
  close(): Promise<void>;
}
