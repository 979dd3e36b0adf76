/** What the dispatcher is created with: store, clock, agents and everything else outside it. */
import type { Dispatch, HistoryPlan } from '../../schemas/generated/types.ts';
import type { Deliverer } from '../deliver/deliverer.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import type { BudgetSpan } from '../store/budget.ts';
import type { Store } from '../store/store.ts';
import type { AgentLimit } from '../store/work-mutations.ts';
import type { AgentRunner } from './agent-runner.ts';
import type { Claim, Dispatcher } from './dispatcher.ts';
import type { FindInstallation } from './installation.ts';
import type { DispatchObserver } from './observer.ts';
import type { OpenHandover } from './outputs.ts';

/** An agent of a profile with its limits. */
export interface ProfileAgent extends AgentRunner {
  readonly timeout_ms: number;
  /** Most attempts of a run. */
  readonly max_attempts: number;
  /** What a run is told of its session; absent: nothing. */
  readonly history?: HistoryPlan;
}

export interface DispatchLimits {
  readonly max_concurrent_runs: number;
  /** Most runs that may wait; beyond it new events are refused. */
  readonly max_queued_runs: number;
}

export interface RetryPolicy {
  readonly max_attempts: number;
  /** The operator accepts that a message may be posted twice. */
  readonly retry_ambiguous: boolean;
}

/** Fires scheduled jobs for events; part of the scheduler. */
export interface JobFirer {
  /** Whether the job is paused as configured. */
  isPaused(job: string): boolean;
  fire(dispatch: Dispatch, claim: Claim): ReturnType<Dispatcher['fire']>;
}

/** The budgets of a run, by its route, agent, job and gateway. */
export type FindBudgets = (
  of: Pick<Dispatch, 'profile' | 'route' | 'job' | 'agent'>,
  now: number,
) => readonly BudgetSpan[];

/** Whatever a swapped table may change is a function, called each time it is needed. */
export interface DispatchContext {
  readonly store: Store;
  readonly deliverer: Deliverer;
  /** Null when the profile, or its agent of this name, is not configured, or no longer. @param name null: the default agent */
  readonly agents: (profile: string, name: string | null) => ProfileAgent | null;
  readonly policy: (profile: string, target: string) => RetryPolicy;
  readonly limits: () => DispatchLimits;
  /** Agents whose runs at once are limited; default: none. */
  readonly agent_limits?: () => readonly AgentLimit[];
  readonly clock: Clock;
  readonly log: Logger;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly ids: Pick<Ids, 'dispatch'>;
  /** How long the response to a direct delivery waits until the result is stored, in ms; default 2000. */
  readonly record_patience_ms?: number;
  /** For the markers of what is posted; left out: nothing is marked. */
  readonly installation?: FindInstallation;
  readonly jobs?: JobFirer;
  /** Loads what checks the outputs of runs. */
  readonly outputs?: () => Promise<OpenHandover>;
  /** Called after deliveries are stored that wait for a person. */
  readonly asked?: () => void;
  /** Replaces every known secret; default: none. */
  readonly redact?: (text: string) => string;
  /** The budgets that a run counts in, with their windows at `now` (Unix ms); left out: there are none. */
  readonly budgets?: FindBudgets;
  readonly observer?: DispatchObserver;
}
