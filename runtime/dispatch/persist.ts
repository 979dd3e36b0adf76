/** Stores changes that have already happened and must not be lost: retries until the store accepts them, or until a stop. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Clock, Timer } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Advance, Mutation, MutationResults, Store } from '../store/contract.ts';
import { StoreUnavailable } from '../store/contract.ts';

/** Waits between attempts, in ms; the last one repeats. */
const WAITS_MS = [100, 500, 2000, 5000] as const;

/** The dispatcher is stopping. Work whose result was not stored is repeated after the next start. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
}

interface PersistContext {
  readonly store: Pick<Store, 'write' | 'problem'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Persister {
  private stopped = false;
  private readonly waiting = new Map<Timer, () => void>();
  private readonly context: PersistContext;

  constructor(context: PersistContext) {
    this.context = context;
  }

  /** Rejects with Stopped when the store has not recovered before the stop, or has ended. */
  async write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.context.store.write(mutation);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (this.context.store.problem()?.kind === 'ended') throw new Stopped(error.message);
        if (attempt === 0)
          this.context.log.error({ change: mutation.kind, err: error.message }, 'cannot store a change; will retry');
      }
      await this.pause(WAITS_MS[Math.min(attempt, WAITS_MS.length - 1)] ?? 0);
    }
  }

  /**
   * Stores the change, or `instead()` when the store rejects it, so that its work does not stay open forever.
   * Rejects with Stopped like `write`.
   */
  async writeOr<M extends Mutation>(mutation: M, instead: () => M): Promise<MutationResults[M['kind']]> {
    try {
      return await this.write(mutation);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      this.context.log.error({ change: mutation.kind, err: error }, 'could not store a change');
      return this.write(instead());
    }
  }

  /** Fails every pending write, and every later one. */
  stop(): void {
    this.stopped = true;
    for (const [timer, wake] of this.waiting) {
      timer.cancel();
      wake();
    }
    this.waiting.clear();
  }

  private async pause(ms: number): Promise<void> {
    if (!this.stopped) {
      await new Promise<void>((resolve) => {
        const timer = this.context.clock.after(ms, () => {
          this.waiting.delete(timer);
          resolve();
        });
        this.waiting.set(timer, resolve);
      });
    }
    if (this.stopped) throw new Stopped('stopped while the store was unavailable');
  }
}

/** The changed dispatch; absent if it is the stored one. */
export function dispatchChange(stored: Dispatch, dispatch: Dispatch): Pick<Advance, 'dispatch' | 'grown'> {
  const bytes = (of: Dispatch): number => Buffer.byteLength(JSON.stringify(of));
  return dispatch === stored ? {} : { dispatch, grown: bytes(dispatch) - bytes(stored) };
}
