/** The dispatcher as whoever starts and stops it sees it: what intake may ask, and its life. */
import type { Ref } from '../store/mutations.ts';
import type { Dispatcher } from './dispatcher.ts';

export interface DispatchReport {
  /** False when the time ended with work still under way. */
  readonly drained: boolean;
  /** Runs and deliveries that were cut off. They go on after the next start, and so does what had not begun. */
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
  /** Takes up what is unfinished, in the background; resolves with their number once all are taken up. */
  start(): Promise<number>;
  /** The limits may have changed. */
  refresh(): void;
  /** Takes up a dispatch that was stored past the dispatcher, such as a job's run. */
  adopt(ref: Ref): Promise<void>;
  /** Refuses new work, releases the groups, waits up to `drainMs` for what runs, and cuts off the rest. */
  stop(drainMs: number): Promise<DispatchReport>;
  counts(): DispatchCounts;
}
