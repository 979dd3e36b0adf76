/** The interface to typed outputs: what a run hands over besides its answer, checked against what its route allows. */
import type { DispatchDelivery, DispatchOutput, DroppedOutput } from '../../schemas/generated/types.ts';
import type { OutputHandover } from './agent-runner.ts';

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
