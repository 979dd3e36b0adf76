/** Renders prompt, addresses and coalesce key into the dispatch. Later stages read neither payload nor route. */
import type { Dispatch, RoutePlan } from '../../../schemas/generated/types.ts';
import { sessionId } from '../../dispatch/session-id.ts';
import { renderDeliveries, renderOutputs } from '../../table/link-delivery.ts';
import { runLimits } from '../../table/link-loop.ts';
import type { Intake, Stage } from '../intake.ts';

const MODES: Record<RoutePlan['mode'], Dispatch['mode']> = {
  ...{ agent: 'agent', message: 'message', direct: 'direct', cron: 'job' },
};

/** Runs are counted by session key, else by coalesce key, else by where the answer goes, if it can come back as an event of the sender. */
function limitsOf(
  { route, scheme, coalesceKey, isExchange }: Intake,
  { mode, deliveries, session_key = null }: Dispatch,
): Intake['limits'] {
  if (mode === 'direct' || mode === 'job') return [];
  const back = deliveries.filter(({ target }) => route.loop.comesBack(scheme, target));
  const place = (of: Dispatch['deliveries']): string => JSON.stringify(of.map(({ target, extra }) => [target, extra]));
  const key = session_key ?? coalesceKey ?? (back.length === 0 ? null : place(back));
  return key === null && !isExchange
    ? []
    : runLimits(route.plan, { key, exchange: isExchange ? (key ?? place(deliveries)) : null });
}

export const render: Stage = (intake, { ids, tracing }) => {
  const { route, event, deliveryId, data } = intake;
  const { plan } = route;
  const builtins = { event_type: event, route: plan.name, delivery_id: deliveryId };
  const prompt = route.prompt(data, builtins, route.isMarked ? ids.marker() : '');
  intake.unresolved = prompt.unresolved;
  const session_key = route.sessionKey?.(data, builtins) ?? null;
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
    session:
      session_key === null
        ? sessionId('webhook', plan.name, deliveryId)
        : sessionId(...(plan.session?.scope == null ? ['webhook', plan.name] : [plan.session.scope]), session_key),
    session_key,
    deliveries: plan.mode === 'cron' ? [] : renderDeliveries(route.deliveries, data, builtins),
    ...renderOutputs(route.outputs, data, builtins),
    ...(route.onFailure.length === 0 ? {} : { on_failure: renderDeliveries(route.onFailure, data, builtins) }),
    mirror_to_session: plan.mirror_to_session,
    superseded: 0,
    replay_of: null,
    ...(tracing === null ? {} : { trace: tracing.received(intake) }),
  };
  intake.coalesceKey = route.coalesce === null ? null : route.coalesce.key(data, builtins);
  intake.limits = limitsOf(intake, intake.dispatch);
  return null;
};
