/**
 * Loads the dispatches and texts that the workers run and deliver. A bounded cache holds texts that are needed soon
 * (the prompt of an accepted event, the answer of a run), which saves a query. Everything else is read from the store.
 * When other processes share the store, only the store knows the progress of a dispatch. Then only prompts are cached,
 * because a dispatch never changes.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Store } from '../store/contract.ts';
import type { Ref } from '../store/records.ts';
import type { DeliveryContent, DeliveryProgress } from './delivery-attempt.ts';
import { progressOf } from './delivery-attempt.ts';

/** The content of a delivery, and its progress. */
export interface DeliverableContent extends DeliveryContent {
  readonly progress: DeliveryProgress;
}

interface CachedContent {
  readonly dispatch: Dispatch;
  /** Null: not run yet. */
  readonly answer: string | null;
}

/** Size of the cache, in UTF-16 units. */
const UNITS = 16 * 1024 * 1024;
/** Size of an entry without its texts. */
const OVERHEAD = 1024;

const sizeOf = ({ dispatch, answer }: CachedContent): number =>
  dispatch.prompt.length + (answer?.length ?? 0) + OVERHEAD;

export class Contents {
  private readonly kept = new Map<Ref, CachedContent>();
  private units = 0;
  private readonly store: Pick<Store, 'read' | 'shared'>;
  private readonly isShared: boolean;

  constructor(store: Pick<Store, 'read' | 'shared'>) {
    this.store = store;
    this.isShared = store.shared !== null;
  }

  /** Adds an entry, and drops the oldest ones when the cache is full. */
  keep(ref: Ref, dispatch: Dispatch, answer: string | null): void {
    this.forget(ref);
    if (this.isShared && answer !== null) return;
    const content = { dispatch, answer };
    this.kept.set(ref, content);
    this.units += sizeOf(content);
    for (const oldest of this.kept.keys()) {
      if (this.units <= UNITS) return;
      this.forget(oldest);
    }
  }

  forget(ref: Ref): void {
    const content = this.kept.get(ref);
    if (content === undefined) return;
    this.kept.delete(ref);
    this.units -= sizeOf(content);
  }

  /** The dispatch to run; null when there is none with this ref. Removes it from the cache. */
  async forRun(ref: Ref): Promise<Dispatch | null> {
    const cached = this.kept.get(ref);
    if (cached === undefined) return (await this.store.read({ kind: 'load', ref }))?.dispatch ?? null;
    this.forget(ref);
    return cached.dispatch;
  }

  async forDelivery(ref: Ref, index: number): Promise<DeliverableContent | null> {
    const cached = this.isShared ? undefined : this.kept.get(ref);
    if (cached !== undefined) {
      const { dispatch, answer } = cached;
      return { dispatch, text: answer ?? dispatch.prompt, progress: progressOf(index, []) };
    }
    const stored = await this.store.read({ kind: 'load', ref });
    if (stored === null) return null;
    const { dispatch, answer, steps } = stored;
    const progress = progressOf(index, steps);
    // An earlier process may have sent this without recording it, so a target must not treat it as a first attempt.
    const since = progress.delivered > 0 ? null : (stored.answered_at ?? stored.accepted_at);
    const first_attempt_at = progress.first_attempt_at ?? since;
    return { dispatch, text: answer ?? dispatch.prompt, progress: { ...progress, first_attempt_at } };
  }
}
