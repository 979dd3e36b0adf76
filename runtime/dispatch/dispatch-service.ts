/** The dispatcher as its owner sees it: what intake may ask, and its life. */
import type { Dispatcher } from './dispatcher.ts';

export interface DispatchReport {
  /** False when the time ended with work still under way. */
  readonly drained: boolean;
  /** Runs and deliveries that were interrupted. They resume after the next start, and so does what had not begun. */
  readonly abandoned: number;
}

export interface DispatchCounts {
  readonly runs_active: number;
  readonly runs_queued: number;
  readonly deliveries_active: number;
  readonly deliveries_queued: number;
  /** Deliveries that wait for their next attempt. */
  readonly deliveries_delayed: number;
  readonly groups: number;
}

export interface DispatchService extends Dispatcher {
  /** Begins to work; resolves with the number of runs and deliveries that the last process had under way. */
  start(): Promise<number>;
  /** The limits may have changed, or something was stored past the dispatcher, such as a job's run. */
  wake(): void;
  /** Refuses new work, makes the groups due, waits up to `drainMs` for what runs, and cuts off the rest. */
  stop(drainMs: number): Promise<DispatchReport>;
  counts(): Promise<DispatchCounts>;
}
