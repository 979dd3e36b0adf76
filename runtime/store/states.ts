/**
 * The states of a dispatch and the transitions between them, the recorded steps, and how deliveries end.
 *
 *   pending ──> running ──> delivering ──> done
 *      ^          │  │        ^  └───────> dead, skipped ──┐
 *      │          │  │        └────────────────────────────┘ a replay, or a later attempt of a sender who waits
 *      └──────────┘  └──> done, skipped, dead
 *
 * - `pending`: waits for a run, or in its coalesce group. An interrupted or failed run returns to `pending`.
 * - `running`: the agent runs.
 * - `delivering`: the answer is stored and is being delivered.
 * - `done`, `dead` (failed permanently, with the reason) and `skipped` (nothing to deliver, superseded, or rejected by
 *   a person) are final: a late writer cannot change them. Only a replay, or a later attempt at a direct delivery, makes
 *   a dead or rejected dispatch `delivering` again (`unit/message.ts`); with `--again`, also a done one.
 *
 * States that begin and end between two changes are not stored, such as a delivery within this process.
 */
import { targetLabel } from '../../base/text.ts';
import type { Step } from '../../schemas/built/operations/types.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';

export type { ProgramEnd, Step } from '../../schemas/built/operations/types.ts';

export const OPEN_STATES = ['pending', 'running', 'delivering'] as const;
export const FINAL_STATES = ['done', 'dead', 'skipped'] as const;
export const DISPATCH_STATES = [...OPEN_STATES, ...FINAL_STATES] as const;

/** The states that people and programs see: a `delivering` dispatch is `waiting` while one of its deliveries is blocked. */
export const SHOWN_STATES = [...OPEN_STATES, 'waiting', ...FINAL_STATES] as const;

export type OpenState = (typeof OPEN_STATES)[number];
export type FinalState = (typeof FINAL_STATES)[number];
export type DispatchState = OpenState | FinalState;
export type ShownState = (typeof SHOWN_STATES)[number];

/** The states from which each state can be reached. */
const REACHED_FROM: Readonly<Record<DispatchState, readonly OpenState[]>> = {
  pending: ['pending', 'running'],
  running: ['pending', 'running'],
  delivering: ['pending', 'running', 'delivering'],
  done: ['pending', 'running', 'delivering'],
  dead: ['pending', 'running', 'delivering'],
  skipped: ['pending', 'running', 'delivering'],
};

/** Whether the transition is allowed. A dispatch is done only with an answer, stored before or with this change. */
export function canAdvance(
  from: DispatchState,
  { to, answer }: { readonly to: DispatchState; readonly answer?: string },
): boolean {
  if (to === 'done' && from !== 'delivering' && answer === undefined) return false;
  return (REACHED_FROM[to] as readonly DispatchState[]).includes(from);
}

export function isFinal(state: ShownState): state is FinalState {
  return (FINAL_STATES as readonly ShownState[]).includes(state);
}

const TRIED = ['ok', 'permanent', 'retry', 'ambiguous', 'failed', 'interrupted'] as const;
const ANSWERS = ['approved', 'rejected'] as const;
/** Of a person, about a dispatch; `undone` withdraws an approval. */
const ACTIONS = ['replayed', 'released', 'dropped', 'undone'] as const;
export const STEP_OUTCOMES = [...TRIED, 'withdrawn', 'superseded', ...ANSWERS, ...ACTIONS] as const;

/** True for the answer of a person, which is not an attempt. */
export const isAnswer = ({ outcome }: Pick<Step, 'outcome'>): boolean => ANSWERS.some((answer) => answer === outcome);

const ENDS_ANSWER: ReadonlySet<Step['outcome']> = new Set(['ok', 'undone']);

/** The latest answer about a delivery that still applies; null: there is none. */
export function answerOf<S extends Pick<Step, 'kind' | 'index' | 'outcome'>>(
  steps: readonly S[],
  index: number,
): S | null {
  // An answer applies to one sending.
  const last = steps.findLast((step) => step.index === index && (isAnswer(step) || ENDS_ANSWER.has(step.outcome)));
  return last === undefined || ENDS_ANSWER.has(last.outcome) ? null : last;
}

/** The step of a person who has changed a dispatch, or one of its deliveries. */
export const actionStep = (of: Pick<Step, 'outcome' | 'at' | 'by'>, index: number | null = null): Step => ({
  kind: 'action',
  index,
  started_at: of.at,
  reason: null,
  next_at: null,
  sent: 0,
  message_id: null,
  ...of,
});

/** The step of a run that has ended without an outcome: by default because its process has ended. */
export const interruptedStep = (
  started_at: number,
  at: number,
  reason = 'the gateway stopped during the run',
): Step => ({
  kind: 'run',
  index: null,
  outcome: 'interrupted',
  started_at,
  at,
  next_at: null,
  reason,
  sent: 0,
  message_id: null,
});

export interface DeliveryEnding {
  readonly state: FinalState;
  /**
   * The deliveries that failed permanently, were rejected or superseded, with the reason of the last attempt of each; null: none.
   */
  readonly reason: string | null;
}

/** True if no further attempt is needed: the text was delivered, or the target was removed. */
export function hasEnded(steps: readonly Pick<Step, 'kind' | 'index' | 'outcome'>[], index: number): boolean {
  const last = steps.findLast((step) => step.kind === 'delivery' && step.index === index);
  return last?.outcome === 'ok' || last?.outcome === 'withdrawn';
}

/** True if it ended unsent and has not failed: a person rejected it, or what it is about has changed. */
export function isRejected(steps: readonly Pick<Step, 'kind' | 'index' | 'outcome'>[], index: number): boolean {
  const last = steps.findLast((step) => step.kind === 'delivery' && step.index === index)?.outcome;
  return last === 'superseded' || (last === 'permanent' && answerOf(steps, index)?.outcome === 'rejected');
}

/** True if a dispatch ended this way: other skipped dispatches never had anything to deliver. */
export const wasRejected = (of: {
  readonly state: ShownState;
  readonly steps: readonly Pick<Step, 'kind'>[];
}): boolean => of.state === 'skipped' && of.steps.some(({ kind }) => kind === 'delivery');

/**
 * The final state of a dispatch whose deliveries have all ended. The last attempt of each decides. A delivery without
 * any attempt counts as delivered.
 */
export function endDelivering(
  deliveries: readonly Pick<Dispatch['deliveries'][number], 'target' | 'label'>[],
  steps: readonly Pick<Step, 'kind' | 'index' | 'outcome' | 'reason'>[],
): DeliveryEnding {
  const unsent: string[] = [];
  let state: FinalState = 'skipped';
  for (const [index, delivery] of deliveries.entries()) {
    const last = steps.findLast((step) => step.kind === 'delivery' && step.index === index);
    if (last === undefined || hasEnded([last], index)) continue;
    unsent.push(`${targetLabel(delivery)}: ${last.reason ?? 'failed'}`);
    if (!isRejected(steps, index)) state = 'dead';
  }
  return unsent.length === 0 ? { state: 'done', reason: null } : { state, reason: unsent.join('; ') };
}

/*
 * The coalesce group as a state machine (§3.2), for all engines.
 *
 *   none ── event ──> pending(first_at, due_at, superseded 0)
 *   pending ── event ──> pending(same first_at, later due_at, superseded + 1)
 *   pending ── due_at passes, or a flush ──> none, and its latest event runs
 *
 * `due_at` is the end of the quiet window, but at most `max_wait_ms` after the group's first event.
 */

export interface GroupLimits {
  readonly window_ms: number;
  readonly max_wait_ms: number;
}

export interface Group {
  /** Unix ms of the group's first event. */
  readonly first_at: number;
  /** Unix ms at which the latest event runs. */
  readonly due_at: number;
  /** Number of events that the latest one has replaced. */
  readonly superseded: number;
}

/** The group after an event at `now`; the limits of the latest event apply. */
export function joinGroup(
  group: Pick<Group, 'first_at' | 'superseded'> | null,
  now: number,
  { window_ms, max_wait_ms }: GroupLimits,
): Group {
  // A later instant means that the system clock moved back: then the maximum wait starts now.
  const first_at = Math.min(group?.first_at ?? now, now);
  return {
    first_at,
    due_at: Math.min(now + window_ms, first_at + max_wait_ms),
    superseded: group === null ? 0 : group.superseded + 1,
  };
}

/** The first line of a prompt that combines several events, with the blank line after it; empty for one event. */
export function supersededNote(superseded: number): string {
  if (superseded === 0) return '';
  const events = superseded === 1 ? '1 earlier event' : `${superseded} earlier events`;
  return `[${events} for this entity ${superseded === 1 ? 'was' : 'were'} superseded by this one.]\n\n`;
}
