/** What a run that has ended changes in the store, and what is logged of it. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import { endDelivering } from '../store/delivery-ending.ts';
import type { Advance, Step, TakenRun } from '../store/mutations.ts';
import { retryWait } from './backoff.ts';
import type { DispatchContext } from './context.ts';
import { logFields } from './log-fields.ts';
import type { RunOutcome } from './run-agent.ts';

export interface FinishedRun {
  readonly taken: TakenRun;
  readonly dispatch: Dispatch;
  /** Unix ms. */
  readonly startedAt: number;
  readonly ms: number;
  readonly maxAttempts: number;
  readonly outcome:
    | RunOutcome
    /** The agent was not run: each delivery would fail, for the reason given. */
    | { readonly kind: 'undeliverable'; readonly reasons: readonly string[] };
}

export type RunChange = Omit<Advance, 'kind' | 'ref' | 'holder'>;

/**
 * @param at unix ms
 * @param random a number in [0, 1).
 */
export function changeAfter(run: FinishedRun, at: number, random: number): RunChange {
  const { outcome, dispatch, startedAt: started_at } = run;
  switch (outcome.kind) {
    case 'answered': {
      const open = dispatch.deliveries.map(({ target }, index) => ({ index, target, due_at: at }));
      return { to: 'delivering', at, started_at, answer: outcome.text, open };
    }
    case 'silent':
      return { to: 'skipped', at, started_at, answer: outcome.text, reason: outcome.reason };
    case 'interrupted':
      return { to: 'pending', at, started_at, steps: [stepOf(run, at, 'stopped while running', null)] };
    case 'undeliverable': {
      const steps = outcome.reasons.map((reason, index) => refusedStep(index, at, reason));
      return { to: 'dead', at, steps, reason: endDelivering(dispatch.deliveries, steps).reason ?? '' };
    }
    case 'failed':
      return changeAfterFailure(run, outcome.reason, at, random);
  }
}

function changeAfterFailure(run: FinishedRun, why: string, at: number, random: number): RunChange {
  const { taken, maxAttempts, startedAt: started_at } = run;
  const attempt = taken.failed + 1;
  const reason = `run failed: ${why}`;
  if (attempt >= maxAttempts) return { to: 'dead', at, started_at, reason, steps: [stepOf(run, at, why, null)] };
  const due_at = at + retryWait(attempt, null, random);
  return { to: 'pending', at, started_at, reason, due_at, steps: [stepOf(run, at, why, due_at)] };
}

function stepOf({ startedAt, outcome }: FinishedRun, at: number, reason: string, next_at: number | null): Step {
  return {
    ...{ kind: 'run', index: null, outcome: outcome.kind === 'interrupted' ? 'interrupted' : 'failed' },
    ...{ started_at: startedAt, at, reason, next_at, sent: 0, message_id: null },
  };
}

function refusedStep(index: number, at: number, reason: string): Step {
  const rest = { reason, next_at: null, sent: 0, message_id: null };
  return { kind: 'delivery', index, outcome: 'permanent', started_at: at, at, ...rest };
}

/** Logs it, once it is stored. */
export function reportRun({ log, observer }: DispatchContext, run: FinishedRun, change: RunChange): void {
  const { taken, dispatch, ms } = run;
  const { to, at, due_at, reason = '' } = change;
  const fields = { ...logFields(dispatch), reason };
  if (to === 'pending' && due_at !== undefined) {
    const retry = { ...fields, attempt: taken.failed + 1, retry_in_ms: due_at - at };
    log.warn(retry, 'run failed, trying again');
    observer?.retryScheduled?.('run');
  }
  if (to !== 'dead' && to !== 'skipped') return;
  const ended = { ...fields, outcome: to, ms };
  if (to === 'skipped') log.info(ended, 'nothing to deliver');
  else log.error(ended, run.outcome.kind === 'undeliverable' ? 'given up without a run' : 'given up');
  observer?.finished?.(dispatch, to, reason);
}
