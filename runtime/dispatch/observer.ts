/** Callbacks of the dispatcher, for metrics and for tests that kill it at a checkpoint. */

import type { Dispatch } from '../../schemas/generated/types.ts';
import { traceField } from '../platform/tracing.ts';
import type { OverBudget } from '../store/budget.ts';
import type { OverLimit } from '../store/event-mutations.ts';
import type { FinalState, Step } from '../store/states.ts';
import type { Usage } from '../store/usage.ts';

/** Points at which a crash must lose nothing, in the order in which a dispatch passes them. */
export const CHECKPOINTS = [
  'accept.begin',
  'accept.stored',
  'work.taken',
  'run.begin',
  'run.answered',
  'run.stored',
  'delivery.begin',
  'delivery.sent',
  'delivery.marked',
  'direct.stored',
  'direct.sent',
  'direct.marked',
] as const;

export type Checkpoint = (typeof CHECKPOINTS)[number];

/** The route or job that a dispatch belongs to. */
export interface DispatchOwner {
  readonly id: string;
  /** The named agent that runs it; null, or absent: the default one, or none. */
  readonly agent?: string | null;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
}

export interface DispatchObserver {
  runEnded?(owner: DispatchOwner, outcome: 'ok' | 'failed' | 'interrupted', ms: number): void;
  /** A run has failed for good; called after that is stored. */
  runFailed?(dispatch: Dispatch, reason: string): void;
  /** A delivery has ended. @param failure why it was given up; null: the target has got it */
  deliveryEnded?(dispatch: Dispatch, index: number, failure: string | null): void;
  /** Instants of a job have passed. @param missed for which nothing fires */
  jobTicked?(job: { readonly id: string; readonly profile: string }, missed: number, fired: boolean): void;
  /** The agent of a run has told what it has used. */
  used?(owner: DispatchOwner, usage: Usage): void;
  /** @param target its display name */
  attemptEnded?(target: string, outcome: Step['outcome'], ms: number): void;
  /** Called after they are stored. */
  outputsChecked?(owner: DispatchOwner, taken: number, dropped: number): void;
  retryScheduled?(kind: Step['kind']): void;
  /**
   * Called after the state is stored.
   * @param answer of the agent, also when it could not be delivered; null: no agent has answered
   */
  finished?(owner: DispatchOwner, state: FinalState, reason: string | null, answer: string | null): void;
  /** A run of a key was refused, because it has had too many. */
  looped?(owner: DispatchOwner, over: OverLimit): void;
  /** A run was refused, or skipped, because a budget is full: `first` in its window or not. */
  overBudget?(owner: DispatchOwner, over: OverBudget): void;
  reached?(point: Checkpoint): void;
}

/** What is told, so that a new call reaches every observer. */
const TOLD: Readonly<Record<keyof DispatchObserver, true>> = {
  runEnded: true,
  runFailed: true,
  deliveryEnded: true,
  jobTicked: true,
  used: true,
  attemptEnded: true,
  outputsChecked: true,
  retryScheduled: true,
  finished: true,
  looped: true,
  overBudget: true,
  reached: true,
};

/** Tells several observers, in the order in which they were added. */
export class Observers {
  private readonly observers: DispatchObserver[];
  readonly all: DispatchObserver;

  constructor(...observers: readonly DispatchObserver[]) {
    this.observers = [...observers];
    this.all = Object.fromEntries(Object.keys(TOLD).map((call) => [call, this.tell(call as keyof DispatchObserver)]));
  }

  add(observer: DispatchObserver): void {
    this.observers.push(observer);
  }

  private tell(call: keyof DispatchObserver): (...of: readonly unknown[]) => void {
    return (...of) => {
      for (const observer of this.observers)
        (observer[call] as ((...of: readonly unknown[]) => void) | undefined)?.(...of);
    };
  }
}

/** The fields that identify a dispatch in log lines. */
export function logFields({
  id,
  route,
  job,
  event,
  delivery_id,
  trace,
}: DispatchOwner & Pick<Dispatch, 'event' | 'delivery_id' | 'trace'>) {
  return { dispatch: id, ...(route === null ? { job } : { route }), event, delivery_id, ...traceField(trace) };
}
