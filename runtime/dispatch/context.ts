/**
 * What the dispatcher is created with: store, clock, agents and everything else outside it, and the interfaces of what
 * modules add to it.
 */

import type { LastingAlert } from '../../schemas/built/operations/types.ts';
import type {
  Dispatch,
  DispatchDelivery,
  DispatchOutput,
  DroppedOutput,
  HistoryPlan,
  RouteTable,
} from '../../schemas/generated/types.ts';
import type { Deliverer } from '../deliver/deliverer.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import type { AgentLimit, Store } from '../store/contract.ts';
import type { RunLimit } from '../store/run-limits.ts';
import type { AgentRunner, OutputHandover } from './agent-runner.ts';
import type { Claim, Dispatcher, DispatchObserver, LimitedEvent } from './dispatcher.ts';
import type { FindInstallation } from './own-message.ts';

/** An agent of a profile with its limits. */
export interface ProfileAgent extends AgentRunner {
  readonly timeout_ms: number;
  /** Most attempts of a run. */
  readonly max_attempts: number;
  /** What a run is told of its session; absent: nothing. */
  readonly history?: HistoryPlan;
}

interface DispatchLimits {
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

/** Finds the limits of a run: a module has them. `now`: Unix ms. */
export interface FindLimits {
  /** Those that it is counted in. @param event that it is accepted for; null: its job fires */
  counted(dispatch: Dispatch, now: number, event?: LimitedEvent | null): readonly RunLimit[];
  /** Those that are asked when it begins, and told what it has used. */
  metered(dispatch: Dispatch, now: number): readonly RunLimit[];
}

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
  /** Left out: runs have no limits. */
  readonly limiter?: FindLimits;
  readonly observer?: DispatchObserver;
}

/** The interface to typed outputs: what a run hands over besides its answer, checked against what its route allows. */
export interface CheckedOutputs {
  /** In the order in which they were handed over; each is a delivery of its own. */
  readonly deliveries: readonly DispatchDelivery[];
  readonly dropped: readonly DroppedOutput[];
}

/** What one run hands over. */
export interface Handover extends OutputHandover {
  checked(): CheckedOutputs;
  /** Replaces every known secret: an agent may have been talked into handing one over. */
  readonly redact: (text: string) => string;
}

export type OpenHandover = (outputs: readonly DispatchOutput[], redact: (text: string) => string) => Handover;

/** The interface to what asks for approvals, and what it shows of them. A module implements it. */
export interface ApprovingContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** The table in service. */
  readonly table: () => RouteTable;
  readonly alerts: Pick<Guard, 'raise' | 'clear' | 'lasting'>;
  /** Call when work was stored. */
  readonly wake: () => void;
}

export interface Approvals {
  /** Something may have begun to wait for a person, or does not any more. */
  changed(): void;
  close(): Promise<void>;
}

export type OpenApprovals = (context: ApprovingContext) => Approvals;

/** Something that fails, by its kind and what it is about. */
export type AlertCondition = Pick<LastingAlert, 'kind' | 'subject' | 'about' | 'until'>;

/** The state of the gateway that is looked at from time to time. */
export interface WatchedState {
  /** It accepts events. */
  readonly ready: boolean;
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
  /** Unix ms of the earliest instant of a job that has passed and not been handled; null: there is none. */
  readonly overdueJob: number | null;
}

export interface GuardContext {
  readonly store: Store;
  readonly deliverer: Pick<Deliverer, 'deliver'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** The table in service. */
  readonly table: () => RouteTable;
  readonly state: () => WatchedState;
  /** The URL of the heartbeat; null without one. */
  readonly heartbeatUrl: () => string | null;
  /** Call when work was stored. */
  readonly wake: () => void;
}

export interface Guard {
  readonly observer: DispatchObserver;
  /** A request of a route was answered. @param authentic null: neither a valid signature nor a wrong one */
  requested(route: string, authentic: boolean | null): void;
  /** A condition holds: the first time begins its alert. */
  raise(of: AlertCondition, reason: string): void;
  /** It does not hold any more. */
  clear(of: Pick<AlertCondition, 'kind' | 'subject'>): void;
  readonly lasting: readonly LastingAlert[];
  /** Stores a message that says it is a test, for where alerts go. Returns its id; null: the table has no alerts. */
  test(): Promise<string | null>;
  close(): Promise<void>;
}

export type OpenGuard = (context: GuardContext) => Guard;
