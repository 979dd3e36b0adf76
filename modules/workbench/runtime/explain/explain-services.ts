/** The services for the stages of an explained request, with a dispatcher that returns what follows from the configuration: they have no effect. */

import { targetLabel } from '../../../../base/label.ts';
import type { Dispatcher } from '../../../../runtime/dispatch/dispatcher.ts';
import type { FindInstallation } from '../../../../runtime/dispatch/installation.ts';
import type { Services } from '../../../../runtime/intake/intake.ts';
import type { RunScript, ScriptOutcome } from '../../../../runtime/intake/script-runner.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { Ids } from '../../../../runtime/platform/ids.ts';
import type { BudgetBody, BudgetSpan, OverBudget } from '../../../../runtime/store/budget.ts';
import { isFull } from '../../../../runtime/store/budget.ts';
import type { OverLimit } from '../../../../runtime/store/event-mutations.ts';
import type { RunLimit } from '../../../../runtime/store/guard-mutations.ts';
import { isMessage } from '../../../../runtime/store/replay.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import type { Dispatch, DispatchDelivery } from '../../../../schemas/generated/types.ts';
import type { Warnings } from './warnings.ts';

export interface ExplainContext {
  /** Without effect: see `createDryDispatcher`. */
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The id whose markers are our own. */
  readonly installation: FindInstallation;
  readonly homeChannel: HomeChannelOf;
  /** For warnings about deliveries that would fail; null: none are given. */
  readonly refusal: RefusesDelivery | null;
}

interface ServicesInput {
  readonly request: RequestParts;
  /** Null: the script is not run. */
  readonly runScript: RunScript | null;
  readonly warnings: Warnings;
}

/** @param onScript called with the outcome of the script, if it is run */
export function explainServices(
  { request, runScript, warnings }: ServicesInput,
  { dispatcher, clock, ids, installation }: ExplainContext,
  onScript: (outcome: ScriptOutcome) => void,
): Services {
  return {
    clock,
    ids,
    dispatcher,
    log: warnings.log,
    installation,
    runScript: async (asked) => {
      if (runScript === null) throw new Error('the script stage is left out');
      const outcome = await runScript(asked);
      onScript(outcome);
      return outcome;
    },
    shutdown: { retryAfterSeconds: null },
    overload: { refuses: () => false, verify: () => {} },
    bodies: {
      read: async (_request, limit) => (request.body.length > limit ? 'too_large' : request.body),
      readArrived: async () => request.body,
      release: () => {},
    },
    connections: { verify: () => {} },
    warnDeprecated: ({ deprecated }, scheme) => warnings.deprecated(scheme, deprecated.get(scheme) ?? null),
    tracing: null,
  };
}

/** Why a delivery would fail before anything is sent; null: it may succeed. @param text null: not known yet */
export type RefusesDelivery = (
  profile: string,
  delivery: DispatchDelivery,
  text: string | null,
) => Promise<string | null> | string | null;

/** The chat of a delivery that names none; null: it names one, or its target has no home channel. */
export type HomeChannelOf = (profile: string, delivery: DispatchDelivery) => string | null;

export type JobOutcome = 'accepted' | 'paused' | 'unknown_job';

export interface SpentBudget {
  readonly budget: BudgetSpan;
  readonly spent: BudgetBody;
}

export interface DryContext {
  readonly refusal: RefusesDelivery;
  readonly jobState: (profile: string, id: string) => Promise<JobOutcome> | JobOutcome;
  /** The budgets that a run would count in, as far as they are spent; left out: there are none. */
  readonly budgets?: ((dispatch: Dispatch) => Promise<readonly SpentBudget[]>) | undefined;
  /** The limit of `loop_limit` or of an exchange that a run would be beyond; left out: none. */
  readonly overLimit?: ((limits: readonly RunLimit[]) => Promise<OverLimit | null>) | undefined;
}

/** There are no duplicates, the queue is empty, and every delivery with a usable address succeeds. */
export function createDryDispatcher({ refusal, jobState, budgets, overLimit }: DryContext): Dispatcher {
  const overBudget = async (dispatch: Dispatch): Promise<OverBudget | null> => {
    const found = budgets === undefined || isMessage(dispatch) ? [] : await budgets(dispatch);
    const full = found.find(({ budget, spent }) => isFull(spent, budget, true));
    return full === undefined ? null : { kind: 'over_budget', budget: full.budget, first: false };
  };
  const over = async (dispatch: Dispatch, limits: readonly RunLimit[] = []): Promise<OverBudget | OverLimit | null> =>
    (await overBudget(dispatch)) ?? (limits.length === 0 ? null : ((await overLimit?.(limits)) ?? null));
  return {
    isKnownDone: () => false,
    refuseRepeat: async () => null,
    accept: async (dispatch, _claim, _most, limits) => (await over(dispatch, limits)) ?? { kind: 'accepted' },
    coalesce: async (dispatch, _claim, _group, _most, limits) =>
      (await over(dispatch, limits)) ?? { kind: 'coalesced', superseded: 0 },
    async deliver({ profile, deliveries, prompt }) {
      const refused = await Promise.all(deliveries.map((delivery) => refusal(profile, delivery, prompt)));
      const results = deliveries.map((delivery, index) => ({
        target: targetLabel(delivery),
        ok: refused[index] === null,
      }));
      return { kind: results.every(({ ok }) => ok) ? 'delivered' : 'failed', results };
    },
    async fire(dispatch) {
      const kind = await jobState(dispatch.profile, dispatch.job ?? '');
      return (kind === 'accepted' ? await overBudget(dispatch) : null) ?? { kind };
    },
  };
}
