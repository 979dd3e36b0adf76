/** The contents of a store as plain rows, in slices, for moving them from one engine to another. */
import type { Ref } from '../../../runtime/store/identity.ts';
import type { DispatchState } from '../../../runtime/store/states.ts';
import type { TallyColumn } from '../../../runtime/store/tally.ts';

/** A dispatch with all its rows, held by no process. Texts are JSON, as stored. */
export interface MovedDispatch {
  readonly ref: Ref;
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  readonly mode: string;
  readonly accepted_at: number;
  readonly max_concurrent: number | null;
  /** [event, delivery_id, replay_of, superseded]; older versions kept the last one in the body. */
  readonly head: string;
  readonly body: string;
  readonly state: DispatchState;
  readonly due_at: number | null;
  readonly set_at: number | null;
  readonly started_at: number | null;
  readonly answered_at: number | null;
  readonly finished_at: number | null;
  readonly reason: string | null;
  readonly failed: number;
  /** The coalesce group in which it waits: JSON [profile, route, key]. */
  readonly group_key: string | null;
  readonly first_at: number | null;
  readonly superseded: number | null;
  readonly answer: string | null;
  readonly steps: readonly { readonly n: number; readonly data: string }[];
  readonly deliveries: readonly MovedDelivery[];
}

export interface MovedDelivery {
  readonly n: number;
  readonly lane: string;
  readonly due_at: number;
  readonly set_at: number;
}

/** The `claimKey` of a delivery id, and its expiry in Unix ms. */
export interface MovedClaim {
  readonly key: string;
  readonly expires_at: number;
}

/** The counts of a route, and its limit of runs at once. */
export interface MovedCounts {
  readonly lane: string;
  readonly max_concurrent: number | null;
  readonly counts: Readonly<Record<TallyColumn, number>>;
}

/** The tables that are small enough to move at once. */
export interface MovedRest {
  readonly counts: readonly MovedCounts[];
  readonly jobs: readonly {
    readonly id: string;
    readonly profile: string;
    readonly name: string;
    readonly body: string;
  }[];
  readonly job_states: readonly {
    readonly job: string;
    readonly paused: boolean | null;
    readonly cursor: number | null;
    readonly signature: string | null;
    readonly ref: Ref | null;
  }[];
  readonly job_ticks: readonly {
    readonly job: string;
    readonly due_at: number;
    readonly outcome: string;
    readonly ref: Ref | null;
    readonly missed: number;
  }[];
  /** `last_error`, `jobs_version`. */
  readonly meta: readonly { readonly key: string; readonly value: string }[];
}

/** Number of rows of each kind, compared at the end. */
export interface MovedCount {
  readonly dispatches: number;
  readonly deliveries: number;
  readonly answers: number;
  readonly steps: number;
  readonly claims: number;
  readonly jobs: number;
  readonly job_ticks: number;
}

/** Reads a whole store in slices. Nothing may write to it meanwhile. */
export interface MoveSource {
  /** Identifies the store; the same each time it is opened. */
  readonly id: string;
  readonly count: MovedCount;
  dispatches(): Iterable<readonly MovedDispatch[]>;
  claims(): Iterable<readonly MovedClaim[]>;
  rest(): MovedRest;
  close(): void;
}
