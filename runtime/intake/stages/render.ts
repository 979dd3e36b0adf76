/** Renders prompt, addresses and coalesce key into the dispatch. Later stages read neither payload nor route. */
import type { Dispatch, RoutePlan } from '../../../schemas/generated/types.ts';
import { sessionId } from '../../dispatch/session-id.ts';
import { renderDeliveries } from '../../table/link-delivery.ts';
import type { Stage } from '../intake.ts';

const MODES: Record<RoutePlan['mode'], Dispatch['mode']> = {
  ...{ agent: 'agent', message: 'message', direct: 'direct', cron: 'job' },
};

export const render: Stage = (intake, { ids, tracing }) => {
  const { route, event, deliveryId, data } = intake;
  const { plan } = route;
  const builtins = { event_type: event, route: plan.name, delivery_id: deliveryId };
  const prompt = route.prompt(data, builtins, route.isMarked ? ids.marker() : '');
  intake.unresolved = prompt.unresolved;
  intake.dispatch = {
    id: ids.dispatch(intake.receivedAt),
    mode: MODES[plan.mode],
    profile: plan.profile,
    route: plan.name,
    job: plan.cron_job,
    event,
    delivery_id: deliveryId,
    accepted_at: intake.receivedAt,
    due_at: null,
    prompt: prompt.text,
    agent: plan.agent,
    skills: plan.mode === 'agent' ? plan.skills : [],
    toolsets: plan.mode === 'agent' ? plan.toolsets : [],
    session: sessionId('webhook', plan.name, deliveryId),
    deliveries: plan.mode === 'cron' ? [] : renderDeliveries(route.deliveries, data, builtins),
    mirror_to_session: plan.mirror_to_session,
    superseded: 0,
    replay_of: null,
    ...(tracing === null ? {} : { trace: tracing.received(intake) }),
  };
  intake.coalesceKey = route.coalesce === null ? null : route.coalesce.key(data, builtins);
  return null;
};
