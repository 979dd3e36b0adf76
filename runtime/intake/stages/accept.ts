/**
 * The last stages: they render the event and dispatch it to its agent, target or job. The response is sent once the
 * dispatch is stored.
 */
import { targetLabel } from '../../../base/text.ts';
import type { Dispatch, DispatchDelivery, RoutePlan } from '../../../schemas/generated/types.ts';
import type { Claim, Dispatcher } from '../../dispatch/dispatcher.ts';
import { STORE_DOWN } from '../../dispatch/dispatcher.ts';
import { sessionId } from '../../platform/ids.ts';
import type { OverBudget, RunKey } from '../../store/budget.ts';
import { budgetName } from '../../store/budget.ts';
import type { OverLimit } from '../../store/contract.ts';
import { StoreUnavailable } from '../../store/contract.ts';
import { fillEvents } from '../../store/listed-rows.ts';
import { renderDeliveries, renderOutputs } from '../../table/link-delivery.ts';
import { digestOf } from '../../table/link-identity.ts';
import { runLimits } from '../../table/link-loop.ts';
import type { Rendered } from '../../table/link-template.ts';
import type { Intake, Stage, Statuses } from '../intake.ts';
import type { Reply, Subject } from '../reply.ts';
import { accepted, acceptedWith, coalesced, delivered, deliveryFailed } from '../reply.ts';
import { answeredEvent, ignore, refuse } from './decide.ts';

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

/** Renders prompt, addresses and coalesce key into the dispatch. Later stages read neither payload nor route. */
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

type DispatchTo = (intake: Intake, dispatch: Dispatch, claim: Claim, dispatcher: Dispatcher) => Promise<Reply>;

const BY_MODE: Record<RoutePlan['mode'], DispatchTo> = {
  agent: dispatchToAgent,
  message: dispatchToAgent,
  direct: dispatchToTarget,
  cron: dispatchToJob,
};

/** Dispatches the event to its agent, target or job. The answer is sent once that is stored. */
export const dispatchEvent: Stage = (intake, { dispatcher, statuses }) => {
  const { dispatch, claim, route } = intake;
  if (dispatch === null || claim === null) throw new Error('the event was not rendered');
  intake.release();
  const told = route.plan.status === undefined ? null : (statuses?.() ?? null);
  if (told !== null) return dispatchWithStatus(intake, dispatch, claim, dispatcher, told);
  return BY_MODE[route.plan.mode](intake, dispatch, claim, dispatcher);
};

/** It begins first, so that no event is accepted without its URL. */
async function dispatchWithStatus(
  intake: Intake,
  dispatch: Dispatch,
  claim: Claim,
  dispatcher: Dispatcher,
  statuses: Statuses,
): Promise<Reply> {
  let answer: (subject: Subject) => Promise<Reply>;
  try {
    answer = await statuses.begin(intake);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return refuse(intake, STORE_DOWN);
  }
  const reply = await dispatchToAgent(intake, dispatch, claim, dispatcher);
  return reply.outcome === 'accepted' ? answer(answeredEvent(intake)) : reply;
}

async function dispatchToAgent(
  intake: Intake,
  dispatch: Dispatch,
  claim: Claim,
  dispatcher: Dispatcher,
): Promise<Reply> {
  const { plan, coalesce } = intake.route;
  const { limits } = intake;
  if (coalesce === null || intake.coalesceKey === null) {
    const result = await dispatcher.accept(dispatch, claim, plan.max_concurrent, limits);
    if (result.kind === 'over_limit') return ignoreLoop(intake, result);
    if (result.kind === 'over_budget') return ignoreOver(intake, result);
    return result.kind === 'accepted' ? accepted(answeredEvent(intake), null) : refuse(intake, result);
  }
  const group = { key: intake.coalesceKey, window_ms: coalesce.windowMs, max_wait_ms: coalesce.maxWaitMs };
  const result = await dispatcher.coalesce(dispatch, claim, group, plan.max_concurrent, limits);
  if (result.kind === 'over_limit') return ignoreLoop(intake, result);
  if (result.kind === 'over_budget') return ignoreOver(intake, result);
  return result.kind === 'coalesced' ? coalesced(answeredEvent(intake), result.superseded) : refuse(intake, result);
}

const ignoreOver = (intake: Intake, { budget }: OverBudget): Reply =>
  ignore(intake, 'budget', `${budgetName(budget.key)}: used up until ${new Date(budget.until).toISOString()}`);

function ignoreLoop(intake: Intake, { limit, until }: OverLimit): Reply {
  const runs = `more than ${limit.most} ${limit.kind === 'runs' ? 'runs' : 'events that another hookwright has caused'}`;
  const pause = until === null ? '' : `: it is paused until ${new Date(until).toISOString()}`;
  return ignore(intake, 'loop', `${runs} for one key within ${limit.within_ms / 60_000} minutes${pause}`);
}

async function dispatchToTarget(
  intake: Intake,
  dispatch: Dispatch,
  claim: Claim,
  dispatcher: Dispatcher,
): Promise<Reply> {
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
}

async function dispatchToJob(intake: Intake, dispatch: Dispatch, claim: Claim, dispatcher: Dispatcher): Promise<Reply> {
  const result = await dispatcher.fire(dispatch, claim);
  switch (result.kind) {
    case 'already_running':
      intake.reason = 'job_already_running';
      return acceptedWith(answeredEvent(intake), 202, { cron_job: dispatch.job, reason: intake.reason });
    case 'accepted':
      return accepted(answeredEvent(intake), dispatch.job);
    case 'over_budget':
      return ignoreOver(intake, result);
    case 'paused':
      return ignore(intake, 'job_paused');
    case 'unknown_job':
      return ignore(intake, 'job_unknown');
    default:
      return refuse(intake, result);
  }
}
