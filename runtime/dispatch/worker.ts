/** Workers, which perform the work that is taken from the store. */
import type { Holder, Ref } from '../store/records.ts';
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
  /** Call it when work has ended or was stored: there may be more to do. */
  readonly changed: () => void;
}

/** Ends a dispatch whose stored data is damaged. The others continue. Rejects with Stopped. */
export async function failDamaged({ context, persister }: WorkerParts, ref: Ref, reason: string): Promise<void> {
  const hasEnded = await persister.write({ kind: 'give_up', ref, at: context.clock.now(), reason });
  if (hasEnded) context.log.error({ ref, reason }, 'failed permanently: its stored data is damaged');
}
