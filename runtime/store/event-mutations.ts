/** The changes by which events, messages and repeats of them come into a store, and why one may not. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { BudgetSpan } from './budget.ts';
import type { GroupLimits } from './group.ts';
import type { RunLimit } from './guard-mutations.ts';
import type { StoredClaim } from './identity.ts';
import type { Step } from './states.ts';

export type {
  Accept,
  InitialWork,
  OpenDelivery,
  Resend,
} from '../../schemas/built/operations/types.ts';

/** A dead message that a new attempt of its sender has continued. */
export interface Continued {
  /** Of the row, from its first attempt. */
  readonly id: string;
  readonly accepted_at: number;
  /** Those of the row, at their indexes, then the new ones. */
  readonly deliveries: Dispatch['deliveries'];
  /** All attempts so far. A delivery that the new attempt does not have ends with a step `withdrawn`. */
  readonly steps: readonly Step[];
}

/** Stores a dispatch in its coalesce group, due at the group's end; the one that it replaces is skipped. */
export interface JoinGroup {
  readonly kind: 'join_group';
  readonly dispatch: Dispatch;
  readonly max_concurrent: number | null;
  readonly claim: StoredClaim | null;
  readonly key: string;
  readonly limits: GroupLimits;
  /** Counts the run against these limits, if the event opens a group. */
  readonly run_limits?: readonly RunLimit[];
  /** In which its run is reserved, if the event opens a group. */
  readonly budgets?: readonly BudgetSpan[];
  readonly now: number;
}

/** Makes the dispatches of all groups due, so that a stop loses nothing (§3.2). */
export interface FlushGroups {
  readonly kind: 'flush_groups';
  readonly now: number;
}

/** The run would be one too many: nothing but its count was stored. */
export interface OverLimit {
  readonly kind: 'over_limit';
  readonly limit: RunLimit;
  /** Unix ms at which the pause ends; null: there is none. */
  readonly until: number | null;
}

/** The route is paused and cannot hold the event, because its sender waits: nothing was stored. */
export interface RoutePaused {
  readonly kind: 'route_paused';
  /** Unix ms at which the pause ends; null: nobody knows. */
  readonly until: number | null;
}
