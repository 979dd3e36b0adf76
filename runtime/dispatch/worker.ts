/** Workers, which perform the work that is taken from the store. */
import type { Holder } from '../store/mutations.ts';
import type { Contents } from './contents.ts';
import type { DispatchContext } from './context.ts';
import type { Persister } from './persist.ts';

/** Performs one kind of work. */
export interface Worker<Taken> {
  /** How much more work can be started now. */
  readonly room: number;
  /** Work that was started and whose result is not stored yet. */
  readonly underWay: ReadonlySet<Taken>;
  start(taken: Taken): Promise<void>;
  /** Returns taken work to the store without starting it. */
  putBack(taken: Taken): Promise<void>;
}

export interface WorkerParts {
  readonly context: DispatchContext;
  readonly holder: Holder;
  readonly persister: Persister;
  readonly contents: Contents;
  /** Call when work has ended or was stored: there may be more to do. */
  readonly changed: () => void;
}
