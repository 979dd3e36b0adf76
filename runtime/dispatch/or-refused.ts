/** Refuses events while the store takes nothing. The store itself logs when that begins and ends. */
import { StoreInDoubt, StoreUnavailable } from '../store/store.ts';
import type { Refusal } from './dispatcher.ts';

const STORE_DOWN: Refusal = { kind: 'overloaded', reason: 'store_unavailable', retry_after_seconds: 10 };

/**
 * What `work` resolves to; a refusal when nothing was stored.
 * @throws StoreInDoubt, and what is not the store's doing
 */
export async function orRefused<T>(work: Promise<T>): Promise<T | Refusal> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreUnavailable && !(error instanceof StoreInDoubt)) return STORE_DOWN;
    throw error;
  }
}
