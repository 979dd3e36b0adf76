/** What the dispatcher tells its observers: metrics, and tests that kill it at a point. */
import type { Step } from '../store/mutations.ts';
import type { FinalState } from '../store/states.ts';

/** The moments between which a crash must lose nothing, in the order of a dispatch's life. */
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

/** Who a dispatch belongs to. */
export interface DispatchOwner {
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
}

export interface DispatchObserver {
  runEnded?(owner: DispatchOwner, outcome: 'ok' | 'failed' | 'interrupted', ms: number): void;
  /** @param target the name that people know */
  attemptEnded?(target: string, outcome: Step['outcome'], ms: number): void;
  retryScheduled?(kind: Step['kind']): void;
  /** Called after the state is stored. */
  finished?(owner: DispatchOwner, state: FinalState, reason: string | null): void;
  reached?(point: Checkpoint): void;
}
