/**
 * The last stages: they render the event and dispatch it to its agent, target or job. The response is sent once the dispatch is
 * stored.
 */
import type { Dispatch, RoutePlan } from '../../../schemas/generated/types.ts';
import type { Claim, Dispatcher } from '../../dispatch/dispatcher.ts';
import { orRefused } from '../../dispatch/dispatcher.ts';
import { sessionId } from '../../platform/ids.ts';
import { fillEvents } from '../../store/listed-rows.ts';
import type { OverLimit } from '../../store/run-limits.ts';
import { renderDeliveries, renderOutputs } from '../../table/link-delivery.ts';
import { bounded } from '../../table/link-identity.ts';
import type { Builtins, Rendered } from '../../table/link-template.ts';
import type { LinkedRoute } from '../../table/linked-table.ts';
import type { Intake, Services, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { accepted, coalesced, delivered, deliveryFailed, ROUTE_DISABLED, textReply } from '../reply.ts';
import { answeredEvent, ignore, refuse } from './decide.ts';

const MODES: Record<RoutePlan['mode'], Dispatch['mode']> = {
  agent: 'agent',
  message: 'message',
  direct: 'direct',
  cron: 'job',
};

const boundedOrNull = (key: string | null | undefined): string | null => (key == null ? null : bounded(key));

function burstPart(
  { route: { coalesce } }: Intake,
  { eventsAt: at }: Rendered,
  line: Rendered | undefined,
  marker: string,
): Pick<Dispatch, 'burst'> {
  const { all = null } = coalesce ?? {};
  if (at === undefined || line === undefined || all === null) return {};
  return { burst: { line: line.text, at: [...at], max_events: all.maxEvents, ...(marker === '' ? {} : { marker }) } };
}

/** Renders prompt, addresses and coalesce key into the dispatch. Later stages read neither payload nor route. */
export const render: Stage = (intake, { ids, tracing }) => {
  const { route, event, deliveryId, data, request } = intake;
  const { plan } = route;
  const builtins = { event_type: event, route: plan.name, delivery_id: deliveryId };
  const marker = route.isMarked ? ids.marker() : '';
  const prompt = route.prompt(data, builtins, marker);
  const line = prompt.eventsAt === undefined ? undefined : route.coalesce?.all?.each(data, builtins, marker);
  intake.unresolved = line === undefined ? prompt.unresolved : [...prompt.unresolved, ...line.unresolved];
  const session_key = boundedOrNull(route.sessionKey?.(data, builtins));
  const progress = renderDeliveries(route.progress, data, builtins).find(({ unresolved }) => unresolved.length === 0);
  const dispatch: Dispatch = {
    id: ids.dispatch(intake.receivedAt),
    mode: MODES[plan.mode],
    profile: plan.profile,
    route: plan.name,
    job: plan.cron_job,
    event,
    delivery_id: deliveryId,
    ...(intake.claim?.guard === undefined ? {} : { guard: intake.claim.guard.name }),
    accepted_at: intake.receivedAt,
    due_at: null,
    prompt: prompt.text,
    agent: plan.agent,
    skills: plan.mode === 'agent' ? plan.skills : [],
    toolsets: plan.mode === 'agent' ? plan.toolsets : [],
    session: sessionOf(plan, deliveryId, session_key),
    session_key,
    ...(session_key === null || plan.session?.on_newer === undefined ? {} : { on_newer: plan.session.on_newer }),
    ...renderPins(route.pins, data, builtins),
    ...(progress === undefined ? {} : { progress }),
    deliveries: plan.mode === 'cron' ? [] : renderDeliveries(route.deliveries, data, builtins),
    ...renderOutputs(route.outputs, data, builtins),
    ...(route.onFailure.length === 0 ? {} : { on_failure: renderDeliveries(route.onFailure, data, builtins) }),
    mirror_to_session: plan.mirror_to_session,
    superseded: 0,
    replay_of: null,
    ...(request.by === undefined ? {} : { by: request.by }),
    ...tracing?.received(intake),
    ...burstPart(intake, prompt, line, marker),
  };
  intake.coalesceKey = boundedOrNull(route.coalesce?.key(data, builtins));
  // An event without an entity is its own burst.
  intake.dispatch = intake.coalesceKey === null ? fillEvents(dispatch, []) : dispatch;
  return null;
};

/** A pin without a value is left out. */
function renderPins(pins: LinkedRoute['pins'], data: unknown, builtins: Builtins): Pick<Dispatch, 'pins'> {
  const rendered = pins.map(([name, render]) => ({ name, ...render(data, builtins) }));
  const known = rendered.filter(({ text, unresolved }) => text !== '' && unresolved.length === 0);
  return known.length === 0 ? {} : { pins: Object.fromEntries(known.map(({ name, text }) => [name, text])) };
}

/**
 * The session of a key, else of the delivery. A sender chooses both texts, so the two kinds never have the same name:
 * `webhook:<route>/<id>` is the session of a delivery whose key does not resolve, `webhook/<key>` and `job/<key>` are of scopes.
 */
function sessionOf({ name, session }: RoutePlan, deliveryId: string, key: string | null): string {
  if (session === null) return sessionId('webhook', name, deliveryId);
  if (key === null) return sessionId('webhook', `${name}/${deliveryId}`);
  if (session.scope === null) return sessionId('webhook', name, key);
  return OF_DELIVERIES.has(session.scope) ? sessionId(`${session.scope}/${key}`) : sessionId(session.scope, key);
}

/** How the sessions of deliveries begin. */
const OF_DELIVERIES: ReadonlySet<string> = new Set(['webhook', 'job']);

type DispatchTo = (intake: Intake, dispatch: Dispatch, claim: Claim, dispatcher: Dispatcher) => Promise<Reply>;

const dispatchToAgent: DispatchTo = async (intake, dispatch, claim, dispatcher) => {
  const { plan, coalesce } = intake.route;
  if (coalesce === null || intake.coalesceKey === null) {
    const result = await dispatcher.accept(dispatch, claim, plan.max_concurrent, intake);
    if (result.kind === 'over_limit') return ignoreOver(intake, result);
    return result.kind === 'accepted' ? accepted(answeredEvent(intake)) : refuse(intake, result);
  }
  const group = { key: intake.coalesceKey, window_ms: coalesce.windowMs, max_wait_ms: coalesce.maxWaitMs };
  const result = await dispatcher.coalesce(dispatch, claim, group, plan.max_concurrent, intake);
  if (result.kind === 'over_limit') return ignoreOver(intake, result);
  return result.kind === 'coalesced' ? coalesced(answeredEvent(intake), result.superseded) : refuse(intake, result);
};

const ignoreOver = (intake: Intake, { reason, detail }: OverLimit): Reply => ignore(intake, reason, detail);

const dispatchToTarget: DispatchTo = async (intake, dispatch, claim, dispatcher) => {
  const result = await dispatcher.deliver(dispatch, claim, intake.route.limits.directTimeoutMs);
  switch (result.kind) {
    case 'delivered':
      return delivered(answeredEvent(intake), result.results);
    case 'failed':
      intake.reason = 'delivery_failed';
      intake.detail = result.results.flatMap(({ target, ok }) => (ok ? [] : [target])).join(',');
      return deliveryFailed(intake.deliveryId, result.results);
    default:
      return refuse(intake, result);
  }
};

const dispatchToJob: DispatchTo = async (intake, dispatch, claim, dispatcher) => {
  const result = await dispatcher.fire(dispatch, claim);
  switch (result.kind) {
    case 'already_running':
      intake.reason = 'job_already_running';
      return accepted(answeredEvent(intake), { cron_job: dispatch.job, reason: intake.reason });
    case 'accepted':
      return accepted(answeredEvent(intake), { cron_job: dispatch.job });
    case 'over_limit':
      return ignoreOver(intake, result);
    case 'paused':
      return ignore(intake, 'job_paused');
    case 'unknown_job':
      return ignore(intake, 'job_unknown');
    default:
      return refuse(intake, result);
  }
};

const BY_MODE: Record<RoutePlan['mode'], DispatchTo> = {
  agent: dispatchToAgent,
  message: dispatchToAgent,
  direct: dispatchToTarget,
  cron: dispatchToJob,
};

/** Answers the callback of a service whose button a person has pressed. */
export async function answerCallback(intake: Intake, { approvals }: Services): Promise<Reply> {
  const { plan, insecure } = intake.route;
  const opened = approvals?.() ?? null;
  if (opened === null || plan.callback === undefined || insecure) return ROUTE_DISABLED;
  const answer = await orRefused(opened.answered(plan.callback, intake.data));
  if ('kind' in answer) return refuse(intake, answer);
  intake.event = 'approval';
  const headers = answer.body === null ? [] : ['Content-Type', 'application/json'];
  return textReply(200, answer.counts ? 'accepted' : 'ignored', answer.body ?? '', headers);
}

export const dispatchEvent: Stage = (intake, { dispatcher, statuses }) => {
  const { dispatch, claim, route } = intake;
  if (dispatch === null || claim === null) throw new Error('the event was not rendered');
  intake.release();
  const send = (): Promise<Reply> => BY_MODE[route.plan.mode](intake, dispatch, claim, dispatcher);
  const reporter = route.plan.status === undefined ? null : (statuses?.() ?? null);
  return reporter === null ? send() : reporter.accept(intake, send);
};
