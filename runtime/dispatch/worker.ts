/** What performs work that was taken from the store, and what it is made of. */
import type { Holder } from '../store/mutations.ts';
import type { Contents } from './contents.ts';
import type { DispatchContext } from './context.ts';
import type { Persister } from './persist.ts';

/** Performs one kind of work. */
export interface Worker<Taken> {
  /** How much may be started now. */
  readonly room: number;
  /** What was started, until its end is stored. */
  readonly underWay: ReadonlySet<Taken>;
  start(taken: Taken): Promise<void>;
  /** Gives back what was taken and is not to begin. */
  putBack(taken: Taken): Promise<void>;
}

export interface WorkerParts {
  readonly context: DispatchContext;
  readonly holder: Holder;
  readonly persister: Persister;
  readonly contents: Contents;
  /** Something has ended or was stored: there may be more to do. */
  readonly changed: () => void;
}
