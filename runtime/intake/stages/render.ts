/** Renders prompt, addresses and coalesce key into the dispatch. Later stages read neither payload nor route. */
import { targetLabel } from '../../../base/label.ts';
import type { Dispatch, DispatchDelivery, RoutePlan } from '../../../schemas/generated/types.ts';
import { sessionId } from '../../dispatch/session-id.ts';
import { fillEvents } from '../../store/burst.ts';
import type { RunKey } from '../../store/run-key.ts';
import { renderDeliveries, renderOutputs } from '../../table/link-delivery.ts';
import { digestOf } from '../../table/link-identity.ts';
import { runLimits } from '../../table/link-loop.ts';
import type { Rendered } from '../../table/link-template.ts';
import type { Intake, Stage } from '../intake.ts';

const MODES: Record<RoutePlan['mode'], Dispatch['mode']> = {
  agent: 'agent',
  message: 'message',
  direct: 'direct',
  cron: 'job',
};

/** Longest key, and part of a place, in UTF-16 units: an agent gets it as an argument, and lists show it. */
const KEY_LIMIT = 256;

/** A longer key is its digest: cutting could merge two. */
const bounded = (key: string): string => (key.length > KEY_LIMIT ? digestOf(key) : key);
const boundedOrNull = (key: string | null | undefined): string | null => (key == null ? null : bounded(key));

/** Runs are counted by session, else by coalesce key, else by where the answer goes, if it can come back as an event of the sender. */
function limitsOf(
  { route, scheme, coalesceKey, isExchange }: Intake,
  { mode, deliveries, session_key = null, session }: Dispatch,
): Intake['limits'] {
  if (mode === 'direct' || mode === 'job') return [];
  const { profile, name } = route.plan;
  const ofRoute = (key: RunKey['key']): RunKey => ({ profile, route: name, key });
  const back = deliveries.filter(({ target }) => route.loop.comesBack(scheme, target));
  const isShared = session_key !== null && route.plan.session?.scope != null;
  const own = session_key ?? coalesceKey ?? (back.length === 0 ? null : back.map(placeOf));
  const key = isShared ? { profile, route: null, key: session } : own === null ? null : ofRoute(own);
  const exchange = isExchange ? (key ?? ofRoute(deliveries.map(placeOf))) : null;
  return runLimits(route.plan, { key, exchange });
}

const placeOf = (delivery: DispatchDelivery): readonly string[] => [
  targetLabel(delivery),
  ...Object.values(delivery.extra).map(bounded),
];

function burstPart(
  { route: { coalesce } }: Intake,
  { eventsAt: at }: Rendered,
  line: Rendered | undefined,
  marker: string,
): Pick<Dispatch, 'burst'> {
  const { all = null } = coalesce ?? {};
  if (at === undefined || line === undefined || all === null) return {};
  const marked = marker === '' ? {} : { marker };
  return { burst: { line: line.text, at: [...at], max_events: all.maxEvents, ...marked } };
}

export const render: Stage = (intake, { ids, tracing }) => {
  const { route, event, deliveryId, data } = intake;
  const { plan } = route;
  const builtins = { event_type: event, route: plan.name, delivery_id: deliveryId };
  const marker = route.isMarked ? ids.marker() : '';
  const prompt = route.prompt(data, builtins, marker);
  const line = prompt.eventsAt === undefined ? undefined : route.coalesce?.all?.each(data, builtins, marker);
  intake.unresolved = line === undefined ? prompt.unresolved : [...prompt.unresolved, ...line.unresolved];
  const session_key = boundedOrNull(route.sessionKey?.(data, builtins));
  const dispatch: Dispatch = {
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
    ...tracing?.received(intake),
    ...burstPart(intake, prompt, line, marker),
  };
  intake.coalesceKey = boundedOrNull(route.coalesce?.key(data, builtins));
  // An event without an entity is a burst of its own.
  intake.dispatch = intake.coalesceKey === null ? fillEvents(dispatch, []) : dispatch;
  intake.limits = limitsOf(intake, intake.dispatch);
  return null;
};
