/**
 * The dependencies of the dispatcher (store, clock, agents), and the interfaces of the parts that modules add to it.
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
import type { SwappableDeliverer } from '../deliver/create-deliverer.ts';
import type { Deliverer, DeliveryContext } from '../deliver/deliverer.ts';
import type { HttpConnections } from '../deliver/http-pool.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import type { AgentLimit, Store } from '../store/contract.ts';
import type { RunLimit } from '../store/run-limits.ts';
import type { AgentRunner, OutputHandover } from './agent-runner.ts';
import type { Claim, Dispatcher, DispatchObserver, LimitedEvent, Observers } from './dispatcher.ts';
import type { FindInstallation } from './own-message.ts';

/** An agent of a profile with its limits. */
export interface ProfileAgent extends AgentRunner {
  readonly timeout_ms: number;
  /** Maximum number of attempts of a run. */
  readonly max_attempts: number;
  /** How much of its session a run gets; absent: nothing. */
  readonly history?: HistoryPlan;
}

interface DispatchLimits {
  readonly max_concurrent_runs: number;
  /** Maximum number of waiting runs; further events are rejected. */
  readonly max_queued_runs: number;
}

export interface RetryPolicy {
  readonly max_attempts: number;
  /** True if a message may rather be lost than posted twice. */
  readonly at_most_once: boolean;
}

/** Fires scheduled jobs for events; part of the scheduler. */
export interface JobFirer {
  /** True if the job is configured as paused. */
  isPaused(job: string): boolean;
  fire(dispatch: Dispatch, claim: Claim): ReturnType<Dispatcher['fire']>;
}

/** Finds the limits of a run; implemented by a module. `now`: Unix ms. */
export interface FindLimits {
  /** The limits that count the run. @param event the event that it is accepted for; null: its job fires */
  counted(dispatch: Dispatch, now: number, event?: LimitedEvent | null): readonly RunLimit[];
  /** The limits that are checked when the run begins, and charged with its usage. */
  metered(dispatch: Dispatch, now: number): readonly RunLimit[];
}

/** Values that a swapped table may change are functions, called each time they are needed. */
export interface DispatchContext {
  readonly store: Store;
  readonly deliverer: Deliverer;
  /**
   * Null when the profile or its agent of this name is not configured (any more). @param name null: the default agent
   */
  readonly agents: (profile: string, name: string | null) => ProfileAgent | null;
  readonly policy: (profile: string, target: string) => RetryPolicy;
  readonly limits: () => DispatchLimits;
  /** Agents with a limit of concurrent runs; default: none. */
  readonly agent_limits?: () => readonly AgentLimit[];
  readonly clock: Clock;
  readonly log: Logger;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly ids: Pick<Ids, 'dispatch'>;
  /** How long the response to a direct delivery waits until the result is stored, in ms; default 2000. */
  readonly record_patience_ms?: number;
  /** The id in the markers of posted texts; absent: nothing is marked. */
  readonly installation?: FindInstallation;
  readonly jobs?: JobFirer;
  /** Loads the checks of the outputs of runs. */
  readonly outputs?: () => Promise<OpenHandover>;
  /** Adds the approvals that the table asks for and a stored row lacks; default: none. */
  readonly asked?: (dispatch: Dispatch) => Dispatch;
  /** Called after blocked deliveries were stored. */
  readonly blocked?: () => void;
  /** Replaces every known secret; default: none. */
  readonly redact?: (text: string) => string;
  /** Absent: runs have no limits. */
  readonly limiter?: FindLimits;
  readonly observer?: DispatchObserver;
}

/** The interface to typed outputs: outputs of a run besides its answer, checked against those that its route allows. */
export interface CheckedOutputs {
  /** In the order in which they were handed over; each is a separate delivery. */
  readonly deliveries: readonly DispatchDelivery[];
  readonly dropped: readonly DroppedOutput[];
  /** Why the agent had nothing to do, if it says so. */
  readonly noop?: string;
  /** Why the run has failed, if a required output is missing. */
  readonly missing?: string;
}

/** Checks the outputs of one run. */
export interface Handover extends OutputHandover {
  checked(): CheckedOutputs;
  /** Replaces every known secret: an agent may have been tricked into handing one over. */
  readonly redact: (text: string) => string;
}

export type OpenHandover = (outputs: readonly DispatchOutput[], redact: (text: string) => string) => Handover;

/** The dependencies of the module that requests approvals. */
export interface ApprovingContext extends Pick<GuardContext, 'store' | 'clock' | 'ids' | 'log' | 'table'> {
  readonly alerts: Pick<Guard, 'raise' | 'clear' | 'lasting'>;
  readonly deliverer: Pick<SwappableDeliverer, 'place' | 'bound'>;
  readonly sending: DeliveryContext;
  /** Call it when work was stored. */
  readonly wake: () => void;
}

/** The response to a person who has pressed a button. `counts`: it was the first answer. `body`: JSON; null: none. */
export type CallbackAnswer = { readonly counts: boolean; readonly body: string | null };

export interface Approvals {
  /** Call it when a delivery may have started or stopped waiting for approval. */
  changed(): void;
  /** @param payload of an authentic callback. Rejects with StoreUnavailable */
  answered(target: string, payload: unknown): Promise<CallbackAnswer>;
  close(): Promise<void>;
}

export type OpenApprovals = (context: ApprovingContext) => Approvals;

/** The dependencies of the module that shows the progress of events. */
export interface ProgressContext extends Omit<GuardContext, 'state' | 'heartbeatUrl' | 'http'> {
  readonly installation: FindInstallation;
  readonly observers: Observers;
}

export type OpenProgress = (context: ProgressContext) => Pick<Guard, 'close'>;

/** A failure, by its kind and subject. `count`: how much of it there is now; absent: each call counts once. */
export type AlertCondition = Pick<LastingAlert, 'kind' | 'subject' | 'about' | 'until'> & { readonly count?: number };

/** The state of the gateway that is checked periodically. */
export interface WatchedState {
  /** True if the gateway accepts events. */
  readonly ready: boolean;
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
  /** Why the newest configuration is not in service; null if it is. */
  readonly problem: string | null;
  /** The URL of this gateway for operators of other gateways. */
  readonly url: string;
  /** Unix ms of the earliest passed instant of a job that was not handled; null: there is none. */
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
  readonly http: HttpConnections;
  /** The URL of the heartbeat; null without one. */
  readonly heartbeatUrl: () => string | null;
  /** Call it when work was stored. */
  readonly wake: () => void;
}

export interface Guard {
  readonly observer: DispatchObserver;
  /** A request of a route was answered. @param authentic null: neither a valid nor an invalid signature @param limited with 429 */
  requested(route: string, authentic: boolean | null, limited?: boolean): void;
  /** The condition holds. The first call starts its alert. */
  raise(of: AlertCondition, reason: string): void;
  /** The condition no longer holds. */
  clear(of: Pick<AlertCondition, 'kind' | 'subject'>, why?: string): void;
  readonly lasting: readonly LastingAlert[];
  /** Stores a test message for the receivers of alerts. Returns its id; null: the table has no alerts. */
  test(): Promise<string | null>;
  close(): Promise<void>;
}

export type OpenGuard = (context: GuardContext) => Guard;
