/** Messages of the gateway itself, to operators: dispatches that are delivered like any other. */
import type { DeliveryPlan, Dispatch, DispatchDelivery, RouteTable } from '../../schemas/generated/types.ts';
import type { Ids } from '../platform/ids.ts';
import type { TraceFields } from '../platform/tracing.ts';
import { traceFieldsOf } from '../platform/tracing.ts';
import { linkDelivery, renderDeliveries } from '../table/link-delivery.ts';

/** A message that belongs to no route and no job, so that its own end is no condition. */
export function alertMessage(
  ids: Pick<Ids, 'dispatch'>,
  now: number,
  of: Pick<Dispatch, 'profile' | 'event' | 'prompt' | 'deliveries'> & TraceFields,
): Dispatch {
  const id = ids.dispatch(now);
  return {
    ...of,
    id,
    mode: 'message',
    route: null,
    job: null,
    delivery_id: `${of.event}:${id}`,
    accepted_at: now,
    due_at: null,
    agent: null,
    skills: [],
    toolsets: [],
    session: `${of.event}:${id}`,
    mirror_to_session: false,
    superseded: 0,
    replay_of: null,
  };
}

/** What `on_failure` is told of a run that has failed for good; none where its route or job tells nobody. */
export function failureMessage(
  failed: Dispatch,
  reason: string,
  ids: Pick<Ids, 'dispatch'>,
  now: number,
): { readonly message?: Dispatch } {
  const { on_failure: deliveries = [], profile, route, job, event, delivery_id, id } = failed;
  if (deliveries.length === 0) return {};
  const owner = `${job === null ? `route ${route ?? ''}` : `job ${job}`}${profile === 'default' ? '' : ` (profile ${profile})`}`;
  const prompt = `hookwright: a run of ${owner} failed\n${reason}\n${event}, ${delivery_id}: hookwright deliveries show ${id}`;
  const told = { profile, event: 'run_failed', prompt, deliveries, ...traceFieldsOf(failed) };
  return { message: alertMessage(ids, now, told) };
}

/** Where such messages go; there is no payload. */
export function renderReceivers(
  plans: readonly DeliveryPlan[],
  { targets }: Pick<RouteTable, 'targets'>,
): DispatchDelivery[] {
  const linked = plans.map((plan) => linkDelivery(plan, { targets, profile: 'default' }));
  return renderDeliveries(linked, null, { event_type: '', route: '', delivery_id: '' });
}
