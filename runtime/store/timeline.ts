/** The history of a dispatch and the facts of its latest run, for people and programs, and how it is replayed. */
import { targetLabel } from '../../base/text.ts';
import type { Dispatch, DispatchDelivery, OutputContent } from '../../schemas/generated/types.ts';
import type { Accept, Resend } from './contract.ts';
import type { DispatchSummary, StoredDispatch } from './queries.ts';
import type { ClaimKey, FireJob } from './records.ts';
import type { ProgramEnd, Step } from './states.ts';
import { isFinal, isRejected, wasRejected } from './states.ts';

/** One entry of the history of a dispatch, for people. */
export interface Moment {
  /** Unix ms. */
  readonly at: number;
  readonly what: string;
  /** The target of an attempt. */
  readonly target: string | null;
  readonly outcome: Step['outcome'] | null;
  readonly reason: string | null;
  /** Unix ms of the next attempt. */
  readonly next_at: number | null;
}

/** Oldest first. */
export function timeline(stored: StoredDispatch): readonly Moment[] {
  const { accepted_at, answered_at, finished_at, started_at, state, steps, answer } = stored;
  const { by } = stored.dispatch;
  const begin = stored.replay_of === null ? 'accepted' : 'replayed';
  const moments: Moment[] = [moment(accepted_at, by === undefined ? begin : `${begin}, by ${by}`)];
  // The run that answered, or is still running, left no step.
  const isRecorded = steps.some((step) => step.kind === 'run' && step.started_at === started_at);
  if (started_at !== null && !isRecorded) moments.push(moment(started_at, 'run started'));
  if (answered_at !== null) moments.push(moment(answered_at, `answered, ${[...(answer ?? '')].length} characters`));
  const attempts = new Map<number, number>();
  for (const [at, step] of steps.entries()) {
    if (step.kind === 'run') {
      moments.push(moment(step.started_at, 'run started'), ofStep(step, `run ${step.outcome}`, null));
      continue;
    }
    if (step.kind === 'action') {
      const target = stored.dispatch.deliveries[step.index ?? -1];
      const what = step.outcome === 'undone' ? 'approval undone' : step.outcome;
      moments.push({ ...moment(step.at, `${what} by ${step.by}`), target: target ? deliveryLabel(target) : null });
      continue;
    }
    const index = step.index ?? 0;
    const delivery = stored.dispatch.deliveries[index];
    const target = delivery === undefined ? null : deliveryLabel(delivery);
    if (step.outcome === 'approved' || step.outcome === 'rejected') {
      moments.push(ofStep(step, step.by === undefined ? 'not approved' : `${step.outcome} by ${step.by}`, target));
      continue;
    }
    if (step.outcome === 'withdrawn' || isRejected(steps.slice(0, at + 1), index)) {
      moments.push({ ...ofStep(step, 'not sent', target), outcome: null });
      continue;
    }
    const attempt = (attempts.get(index) ?? 0) + 1;
    attempts.set(index, attempt);
    moments.push(ofStep(step, step.outcome === 'ok' ? 'delivered' : `delivery attempt ${attempt} failed`, target));
  }
  if (finished_at !== null) moments.push({ ...moment(finished_at, state), reason: stored.reason });
  // The sort is stable: entries of the same millisecond stay in the order above.
  return moments.sort((a, b) => a.at - b.at);
}

const moment = (at: number, what: string): Moment => ({
  at,
  what,
  target: null,
  outcome: null,
  reason: null,
  next_at: null,
});

function ofStep({ at, outcome, reason, next_at }: Step, what: string, target: string | null): Moment {
  return { at, what, target, outcome, reason, next_at };
}

export type ShownOutput = ReturnType<typeof shownOutputs>[number];

/** The outputs that the agent has handed over, as text; `message_id` may be the link to what was posted. */
export const shownOutputs = ({ dispatch, steps }: Pick<StoredDispatch, 'dispatch' | 'steps'>) =>
  dispatch.deliveries.flatMap((delivery, index) => {
    if (delivery.output === undefined) return [];
    const { name, content } = delivery.output;
    const { text = '', ...others } = Object.fromEntries(
      Object.entries(content).map(([field, value]) => [field, contentText(value)]),
    );
    const sent = steps.findLast((step) => step.index === index && step.outcome === 'ok');
    const of = { name, target: targetLabel(delivery), address: delivery.extra, text, content: others };
    const reason = sent === undefined ? (steps.findLast((step) => step.index === index)?.reason ?? null) : null;
    return [{ ...of, delivered: sent !== undefined, reason, message_id: sent?.message_id ?? null }];
  });

/** A field of an output as text; the texts of a list are separated by commas. */
const contentText = (value: OutputContent[string]): string => {
  if (typeof value === 'string') return value;
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
  return isList ? value.join(', ') : JSON.stringify(value);
};

/** The target, and the output that goes there. */
export const deliveryLabel = (delivery: StoredDispatch['dispatch']['deliveries'][number]): string =>
  delivery.output === undefined ? targetLabel(delivery) : `${targetLabel(delivery)} (${delivery.output.name})`;

/** A dispatch for display, with the names of its targets that people know. */
export const withLabels = ({ deliveries, outputs, on_failure, ...dispatch }: Dispatch): Dispatch => ({
  ...dispatch,
  deliveries: deliveries.map(withLabel),
  ...(outputs === undefined
    ? {}
    : { outputs: outputs.map((output) => ({ ...output, delivery: withLabel(output.delivery) })) }),
  ...(on_failure === undefined ? {} : { on_failure: on_failure.map(withLabel) }),
});

const withLabel = ({ label, ...delivery }: DispatchDelivery): DispatchDelivery => ({
  ...delivery,
  target: label ?? delivery.target,
});

/** The stored facts of the run of a dispatch, for commands and for programs that embed the runtime. */
export interface RunFacts extends Required<ProgramEnd> {
  /** The duration of the latest run in ms; null: none has ended, or there was none. */
  readonly duration_ms: number | null;
  /** Runs that have begun. */
  readonly attempts: number;
}

type Instants = Pick<DispatchSummary, 'started_at' | 'answered_at' | 'finished_at'>;

/** The duration of the latest run in ms; null: it has not ended, or there was none. */
export function runDuration({ started_at, answered_at, finished_at }: Instants): number | null {
  const ended = answered_at ?? finished_at;
  return started_at === null || ended === null ? null : Math.max(0, ended - started_at);
}

/** Exit code, signal and outputs are those of the latest ended run: null and empty if its agent is not a program. */
export function runFacts(stored: StoredDispatch): RunFacts {
  const { steps, state, started_at, answer } = stored;
  const failed = steps.filter(({ kind }) => kind === 'run');
  const last = failed.at(-1);
  const hasAnswered = started_at !== null && answer !== null;
  const {
    exit_code = null,
    signal = null,
    stderr = '',
    stdout = '',
    denied = [],
  } = (hasAnswered ? stored.program : last?.program) ?? {};
  const duration = runDuration(stored) ?? (last === undefined ? null : Math.max(0, last.at - last.started_at));
  const attempts = failed.length + (hasAnswered || state === 'running' ? 1 : 0);
  return { exit_code, signal, duration_ms: duration, attempts, stderr, stdout, denied };
}

/**
 * How an operator replays a dispatch: in its own row if its text is there, otherwise as a new run with a reference to
 * it.
 */
export interface ReplayOptions {
  /** The id of a new row. */
  readonly id: string;
  readonly now: number;
  /** Run the agent again even if there is an answer. */
  readonly rerun: boolean;
  /** Send to all targets, including those that already have the text. */
  readonly again: boolean;
}

/**
 * Returns the change that stores the replay. A message, or an answer that could not be delivered, continues in its row
 * to the targets that do not have it. Everything else runs again in a new row. Its delivery id is stored for lookups,
 * but is not claimed: a repeat by the sender is still a duplicate. A run of a job takes the job's turn.
 */
export function replay(stored: StoredDispatch, { id, now, rerun, again }: ReplayOptions): Accept | FireJob | Resend {
  if (hasText(stored, rerun, again)) return { kind: 'resend', ref: stored.ref, key: keyOfMessage(stored), again, now };
  const { by: _, dropped: _dropped, noop: _noop, ...before } = stored.dispatch;
  const dispatch: Dispatch = { ...before, id, accepted_at: now, replay_of: stored.id };
  const { max_concurrent } = stored;
  const { job } = dispatch;
  if (job !== null) return { kind: 'fire_job', job, paused: false, dispatch, claim: null, even_paused: true, now };
  return { kind: 'accept', dispatch, max_concurrent, claim: null, claiming: 'now', work: { kind: 'run' }, now };
}

/** Whether a replay sends the stored text; otherwise the agent runs again. */
export function hasText(of: StoredDispatch, rerun: boolean, again: boolean): boolean {
  if (of.dispatch.deliveries.length === 0) return false;
  return isMessage(of) || (of.answer !== null && !rerun && (of.state === 'dead' || wasRejected(of) || again));
}

/** Whether the prompt is the text that is delivered: no agent runs. */
export const isMessage = ({ mode }: Pick<Dispatch, 'mode'>): boolean => mode === 'direct' || mode === 'message';

/** The delivery id and the guard under which a message is stored; null for a dispatch that runs. */
export function keyOfMessage(
  of: Pick<Dispatch, 'mode' | 'profile' | 'route' | 'delivery_id' | 'guard'>,
): ClaimKey | null {
  const { profile, route, delivery_id, guard } = of;
  if (!isMessage(of) || route === null) return null;
  return { profile, route, delivery_id, ...(guard === undefined ? {} : { guard }) };
}

/** Why it cannot be replayed; null if it can. */
export function whyNotReplay(stored: StoredDispatch, again: boolean): string | null {
  const { state } = stored;
  if (!isFinal(state)) return `the delivery is still ${state}`;
  return state === 'done' && isMessage(stored) && !again ? DELIVERED : null;
}

export const DELIVERED = 'the message was already delivered to all its targets; --again sends it again';
