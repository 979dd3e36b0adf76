/**
 * The seam between intake and the work behind it: what a request may ask for once its event is accepted.
 * Every method resolves only after what it reports is stored: an answer sent afterwards is a promise kept.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';

/** The delivery id of an event, to be claimed so that a repeat is recognised. */
export interface Claim {
  readonly profile: string;
  readonly route: string;
  readonly delivery_id: string;
  /** Made up by us: never makes anything a duplicate. */
  readonly generated: boolean;
  /** How long the id is remembered once done, in ms. */
  readonly ttl_ms: number;
}

/** Results that every kind of dispatch shares. */
export type Refusal =
  | { readonly kind: 'duplicate' }
  /** Nothing was stored, the sender should come back. `queue_full`: as many runs wait as may. */
  | {
      readonly kind: 'overloaded';
      readonly reason: 'queue_full' | 'store_unavailable';
      readonly retry_after_seconds: number;
    }
  | { readonly kind: 'shutting_down'; readonly retry_after_seconds: number };

export interface CoalesceKey {
  /** Rendered key of the entity; groups are per (profile, route, key). */
  readonly key: string;
  readonly window_ms: number;
  readonly max_wait_ms: number;
}

export interface TargetResult {
  readonly target: string;
  readonly ok: boolean;
}

export interface Dispatcher {
  /** True: the event is a duplicate. False: perhaps not; an id of long ago is found when the event is to be stored. */
  isKnownDone(claim: Claim): boolean;
  /** Makes certain, with a query, before a script runs; null: continue. */
  refuseRepeat(claim: Claim): Promise<Refusal | null>;
  /** Claims the id, stores the dispatch and queues its run. `max_concurrent`: runs of its route at once, or null. */
  accept(
    dispatch: Dispatch,
    claim: Claim,
    max_concurrent: number | null,
  ): Promise<Refusal | { readonly kind: 'accepted' }>;
  /** Claims the id and puts the dispatch into its coalesce group, replacing the one waiting there. */
  coalesce(
    dispatch: Dispatch,
    claim: Claim,
    group: CoalesceKey,
    max_concurrent: number | null,
  ): Promise<Refusal | { readonly kind: 'coalesced'; readonly superseded: number }>;
  /** Claims the id and makes one delivery attempt per target within `timeoutMs`; releases the id when one fails. */
  deliver(
    dispatch: Dispatch,
    claim: Claim,
    timeoutMs: number,
  ): Promise<Refusal | { readonly kind: 'delivered' | 'failed'; readonly results: readonly TargetResult[] }>;
  /** Claims the id and fires the job named by `dispatch.job` with the dispatch's prompt as context. */
  fire(
    dispatch: Dispatch,
    claim: Claim,
  ): Promise<Refusal | { readonly kind: 'accepted' | 'already_running' | 'paused' | 'unknown_job' }>;
}
