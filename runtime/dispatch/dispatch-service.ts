/** The dispatcher as its owner sees it: the interface for intake, plus start, stop and counts. */
import type { Dispatcher } from './dispatcher.ts';

export interface DispatchReport {
  /** False when the time was up with work still under way. */
  readonly drained: boolean;
  /** Runs and deliveries that were interrupted. They resume after the next start, as does queued work. */
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
  /** Starts work; resolves with the number of runs and deliveries that earlier processes left under way. */
  start(): Promise<number>;
  /** Checks for work: call it when limits may have changed, or something else stored work, such as a job's run. */
  wake(): void;
  /** Refuses new work, flushes the groups, waits up to `drainMs` for work under way, and cancels the rest. */
  stop(drainMs: number): Promise<DispatchReport>;
  counts(): Promise<DispatchCounts>;
}
