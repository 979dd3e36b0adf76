/** Turns a finished run into its change for the store and its log lines. */
import type { Dispatch, DispatchDelivery } from '../../schemas/generated/types.ts';
import type { Advance, OpenDelivery, TakenRun } from '../store/contract.ts';
import type { ProgramEnd, Step } from '../store/states.ts';
import { endDelivering } from '../store/states.ts';
import { openDelivery } from '../store/unit/blocked.ts';
import type { RunUsage } from '../store/usage.ts';
import type { DispatchContext } from './context.ts';
import { logFields } from './dispatcher.ts';
import { failureMessage, unsentOutputs, withUnsentNames } from './own-message.ts';
import { dispatchChange } from './persist.ts';
import { retryWait } from './retry-waits.ts';
import type { AgentRun } from './run-agent.ts';

export interface FinishedRun extends Omit<AgentRun, 'outcome'> {
  readonly taken: TakenRun;
  readonly dispatch: Dispatch;
  /** As it is stored, if `dispatch` has further approvals. */
  readonly stored: Dispatch;
  /** Unix ms. */
  readonly startedAt: number;
  readonly ms: number;
  readonly maxAttempts: number;
  readonly outcome:
    | AgentRun['outcome']
    /** The agent was not run, because each delivery would fail, for these reasons. */
    | { readonly kind: 'undeliverable'; readonly reasons: readonly string[] };
}

/** Wait before a run that the machine could not begin is retried, in ms. */
const POSTPONED_MS = 10_000;

export type RunChange = Omit<Advance, 'kind' | 'ref' | 'holder'>;

/** The change to store after a run. @param at Unix ms */
export function changeAfter(
  run: FinishedRun,
  at: number,
  { random, ids }: Pick<DispatchContext, 'random' | 'ids'>,
): RunChange {
  const { outcome, dispatch, taken, startedAt: started_at } = run;
  const change = { at, started_at, ...reportedUsage(run) };
  switch (outcome.kind) {
    case 'answered': {
      const open = openOf([...dispatch.deliveries, ...(run.outputs?.deliveries ?? [])], at);
      return {
        ...change,
        to: 'delivering',
        answer: outcome.text,
        ...programOf(run.program),
        ...withOutputs(run),
        open,
      };
    }
    case 'silent': {
      const answer = { ...change, answer: outcome.text, ...programOf(run.program), ...withOutputs(run) };
      const own = openOf(run.outputs?.deliveries ?? [], at, dispatch.deliveries.length);
      if (own.length === 0) return { ...answer, to: 'skipped', reason: outcome.reason };
      // The outputs are delivered. The answer never is, not even by a replay.
      const { program, ...step } = stepOf(run, at, outcome.reason);
      const withdrawn = { ...step, kind: 'delivery', outcome: 'withdrawn' } as const;
      const steps = dispatch.deliveries.map((_, index) => ({ ...withdrawn, index }));
      return { ...answer, to: 'delivering', steps, open: own };
    }
    case 'postponed':
      return { at, to: 'pending', due_at: at + POSTPONED_MS, reason: outcome.reason };
    case 'interrupted':
      return { ...change, to: 'pending', steps: [stepOf(run, at, 'stopped while running')] };
    case 'undeliverable': {
      const kind = { kind: 'delivery', outcome: 'permanent' } as const;
      const steps = outcome.reasons.map((reason, index) => ({ ...stepOf(run, at, reason), ...kind, index }));
      return { at, to: 'dead', steps, reason: endDelivering(dispatch.deliveries, steps).reason ?? '' };
    }
    case 'failed': {
      const attempt = taken.failed + 1;
      const mayRetry = outcome.permanent !== true && attempt < run.maxAttempts;
      const due_at = mayRetry ? at + retryWait(attempt, outcome.retryAfterMs ?? null, random()) : null;
      const failure = {
        ...change,
        reason: `run failed: ${outcome.reason}`,
        steps: [stepOf(run, at, withUnsentNames(outcome.reason, run.outputs), due_at)],
      };
      if (due_at !== null) return { ...failure, to: 'pending', due_at };
      return { ...failure, to: 'dead', ...withUnsent(run), ...failureMessage(dispatch, outcome.reason, ids, at) };
    }
  }
}

/** The open deliveries; some may be blocked. @param at Unix ms */
export const openOf = (deliveries: readonly DispatchDelivery[], at: number, first = 0): readonly OpenDelivery[] =>
  deliveries.map((delivery, index) => openDelivery(delivery, first + index, at));

/** Reports that deliveries are blocked; call it once they are stored. */
export function reportBlocked({ blocked }: DispatchContext, open: readonly OpenDelivery[] = []): void {
  if (open.some(({ blocked_by }) => blocked_by !== undefined)) blocked?.();
}

/** The dispatch with the outputs of the run; absent if there are none. */
function withOutputs({ dispatch, stored, outputs }: FinishedRun): Pick<RunChange, 'dispatch' | 'grown'> {
  const { deliveries, dropped, noop } = outputs ?? { deliveries: [], dropped: [] };
  if (deliveries.length + dropped.length === 0 && noop === undefined) return dispatchChange(stored, dispatch);
  return dispatchChange(stored, {
    ...dispatch,
    deliveries: [...dispatch.deliveries, ...deliveries],
    ...(dropped.length === 0 ? {} : { dropped: [...dropped] }),
    ...(noop === undefined ? {} : { noop }),
  });
}

/** The dispatch of a run that has failed, with all outputs dropped. */
function withUnsent(run: FinishedRun): Pick<RunChange, 'dispatch' | 'grown'> {
  const dropped = unsentOutputs(run.outputs);
  return dropped.length === 0 ? {} : withOutputs({ ...run, outputs: { ...run.outputs, deliveries: [], dropped } });
}

/** Absent if there is no program. */
export const programOf = (program: ProgramEnd | null): { readonly program?: ProgramEnd } =>
  program === null ? {} : { program };

/** Absent if the agent has not reported its usage. */
export const reportedUsage = ({
  usage,
  dispatch,
}: Pick<FinishedRun, 'usage' | 'dispatch'>): { readonly usage?: RunUsage } =>
  usage === null ? {} : { usage: { ...usage, agent: dispatch.agent ?? null } };

function stepOf(
  { startedAt, outcome, program }: FinishedRun,
  at: number,
  reason: string,
  next_at: number | null = null,
): Step {
  const kind = {
    kind: 'run',
    index: null,
    outcome: outcome.kind === 'interrupted' ? 'interrupted' : 'failed',
  } as const;
  return { ...kind, started_at: startedAt, at, reason, next_at, sent: 0, message_id: null, ...programOf(program) };
}

/** Logs the result of a run; call it once the change is stored. */
export function reportRun({ log, observer }: DispatchContext, run: FinishedRun, change: RunChange): void {
  const { taken, dispatch, ms, outcome } = run;
  const { to, at, due_at, reason = '' } = change;
  const fields = { ...logFields(dispatch), reason };
  if (run.outputs !== null && change.answer !== undefined) {
    const { deliveries, dropped } = run.outputs;
    observer?.outputsChecked?.(dispatch, deliveries.length, dropped.length);
    if (dropped.length > 0) log.warn({ ...logFields(dispatch), dropped }, 'dropped invalid outputs of the agent');
  }
  if (outcome.kind === 'answered' && outcome.unmarked === true)
    log.info(logFields(dispatch), 'removed [SILENT] from the answer before delivery');
  if (outcome.kind === 'postponed') {
    log.warn({ ...fields, retry_in_ms: POSTPONED_MS }, 'cannot start a run; will retry');
  } else if (due_at !== undefined) {
    log.warn({ ...fields, attempt: taken.failed + 1, retry_in_ms: due_at - at }, 'run failed; will retry');
    observer?.retryScheduled?.('run');
  }
  if (to !== 'dead' && to !== 'skipped') return;
  const ended = { ...fields, outcome: to, ms };
  if (to === 'skipped') log.info(ended, 'nothing to deliver');
  else log.error(ended, outcome.kind === 'undeliverable' ? 'not run: cannot be delivered' : 'run failed permanently');
  if (outcome.kind === 'failed') observer?.runFailed?.(dispatch, outcome.reason);
  if (outcome.kind === 'undeliverable')
    for (const [index, why] of outcome.reasons.entries()) observer?.deliveryEnded?.(dispatch, index, why);
  observer?.finished?.(dispatch, to, reason, outcome.kind === 'silent' ? outcome.text : null);
}
