/** What the dispatcher is made of: everything that touches the world comes in here. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Deliverer } from '../deliver/deliverer.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Store } from '../store/store.ts';
import type { AgentRunner } from './agent-runner.ts';
import type { Claim, Dispatcher } from './dispatcher.ts';
import type { DispatchObserver } from './observer.ts';

/** A profile's agent with its rules. */
export interface ProfileAgent extends AgentRunner {
  readonly timeout_ms: number;
  /** How often a failed run is tried. */
  readonly max_attempts: number;
}

export interface DispatchLimits {
  readonly max_concurrent_runs: number;
  /** Runs that may wait; beyond it new events are refused. */
  readonly max_queued_runs: number;
}

/** A target's rules for trying again. */
export interface RetryPolicy {
  readonly max_attempts: number;
  /** The operator accepts that a message may be posted twice. */
  readonly retry_ambiguous: boolean;
}

/** Fires scheduled jobs for events; part of the scheduler. */
export interface JobFirer {
  fire(dispatch: Dispatch, claim: Claim): ReturnType<Dispatcher['fire']>;
}

/** What a swapped table may change is a function, called anew each time. */
export interface DispatchContext {
  readonly store: Store;
  readonly deliverer: Deliverer;
  /** Null: the profile is not configured (any more). */
  readonly agents: (profile: string) => ProfileAgent | null;
  readonly policy: (profile: string, target: string) => RetryPolicy;
  readonly limits: () => DispatchLimits;
  readonly clock: Clock;
  readonly log: Logger;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** How long the answer of a direct delivery waits for its record, in ms; default 2000. */
  readonly record_patience_ms?: number;
  readonly jobs?: JobFirer;
  readonly observer?: DispatchObserver;
}
