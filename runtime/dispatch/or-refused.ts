/** Refuses events while the store cannot write. The store itself logs when that begins and ends. */
import { StoreInDoubt, StoreUnavailable } from '../store/store.ts';
import type { Refusal } from './dispatcher.ts';

const STORE_DOWN: Refusal = { kind: 'overloaded', reason: 'store_unavailable', retry_after_seconds: 10 };

/**
 * Resolves like `work`, or with a refusal when the store was unavailable and nothing was stored. Rejects with
 * StoreInDoubt, and with errors that are not the store's.
 */
export async function orRefused<T>(work: Promise<T>): Promise<T | Refusal> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreUnavailable && !(error instanceof StoreInDoubt)) return STORE_DOWN;
    throw error;
  }
}
