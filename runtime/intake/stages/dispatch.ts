/** Dispatches the event to its agent, target or job. The answer is sent once that is stored. */
import type { Dispatch, RoutePlan } from '../../../schemas/generated/types.ts';
import type { Claim, Dispatcher } from '../../dispatch/dispatcher.ts';
import { STORE_DOWN } from '../../dispatch/dispatcher.ts';
import type { OverBudget } from '../../store/budget.ts';
import { budgetName } from '../../store/budget.ts';
import type { OverLimit } from '../../store/event-mutations.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { Intake, Stage, Statuses } from '../intake.ts';
import type { Reply, Subject } from '../reply.ts';
import { accepted, acceptedWith, coalesced, delivered, deliveryFailed } from '../reply.ts';
import { answeredEvent, ignore, refuse } from './reject.ts';

type DispatchTo = (intake: Intake, dispatch: Dispatch, claim: Claim, dispatcher: Dispatcher) => Promise<Reply>;

const BY_MODE: Record<RoutePlan['mode'], DispatchTo> = {
  agent: dispatchToAgent,
  message: dispatchToAgent,
  direct: dispatchToTarget,
  cron: dispatchToJob,
};

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
