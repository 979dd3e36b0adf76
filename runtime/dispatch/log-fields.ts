import type { Dispatch } from '../../schemas/generated/types.ts';
import type { DispatchOwner } from './observer.ts';

/** The fields that identify a dispatch in log lines. */
export function logFields({
  id,
  route,
  job,
  event,
  delivery_id,
}: DispatchOwner & Pick<Dispatch, 'event' | 'delivery_id'>) {
  return route === null ? { dispatch: id, job, event, delivery_id } : { dispatch: id, route, event, delivery_id };
}
