/** Finds a delivery for people, who know its id or the delivery id of its sender. */
import type { Store } from './contract.ts';
import type { QueryResults } from './queries.ts';

/** Maximum number of deliveries with the same delivery id that are listed. */
const MOST = 20;

/** @param id an id, a unique prefix of one, or a delivery id that only one delivery has */
export async function findDelivery(store: Pick<Store, 'read'>, id: string): Promise<QueryResults['find']> {
  const found = await store.read({ kind: 'find', id });
  if (found.kind !== 'unknown' || id === '') return found;
  const alike = (await withDeliveryId(store, id)).map(({ ref }) => ref);
  const [ref, ...others] = alike;
  if (ref === undefined || others.length > 0) return { kind: ref === undefined ? 'unknown' : 'ambiguous' };
  const dispatch = await store.read({ kind: 'load', ref });
  return dispatch === null ? { kind: 'unknown' } : { kind: 'found', dispatch };
}

/** The newest deliveries with this delivery id of their sender. */
export const withDeliveryId = async (store: Pick<Store, 'read'>, delivery_id: string): Promise<QueryResults['list']> =>
  (await store.read({ kind: 'list', filter: { delivery_id, limit: MOST } })).filter(
    (each) => each.delivery_id === delivery_id,
  );
