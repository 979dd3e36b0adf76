/**
 * Changes as the writer takes them. The two that make up nearly all of the load are flat, their texts already JSON as the
 * tables keep it: whoever hands them over has done that, and the writer need not take a dispatch apart.
 */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { claimKey } from '../claim-key.ts';
import type { Accept, Advance, Mutation, Ref } from '../mutations.ts';
import { isFailure } from '../mutations.ts';
import type { DispatchState } from '../states.ts';
import { isFinal } from '../states.ts';
import type { Value } from './row-buffer.ts';

/** What the table of dispatches keeps of one. */
export interface DispatchRow {
  readonly id: string;
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  readonly mode: Dispatch['mode'];
  readonly accepted_at: number;
  readonly max_concurrent: number | null;
  /** JSON of [event, delivery_id, replay_of]. */
  readonly head: string;
  /** JSON of the dispatch. */
  readonly body: string;
}

/** An event to be run, with its delivery id. */
export interface Accepted {
  readonly kind: 'accepted';
  readonly row: DispatchRow;
  /** The key of the claim; null: none. */
  readonly claim: string | null;
  readonly expires_at: number | null;
  readonly now: number;
}

/** A dispatch goes to a state. */
export interface AdvanceRow {
  readonly ref: Ref;
  readonly to: DispatchState;
  readonly at: number;
  /** JSON. */
  readonly reason: string | null;
  readonly ready_at: number | null;
  readonly started_at: number | null;
  /** JSON. */
  readonly answer: string | null;
  /** JSON of each. */
  readonly steps: readonly string[];
}

/** A dispatch has come to a good end. */
export interface Ended {
  readonly kind: 'ended';
  readonly row: AdvanceRow;
}

/** Everything else. */
export interface Other {
  readonly kind: 'other';
  readonly mutation: Mutation;
}

export type Change = Accepted | Ended | Other;

export function toChange(mutation: Mutation): Change {
  if (mutation.kind === 'accept' && isPlainAccept(mutation)) {
    const { dispatch, max_concurrent, claim, now } = mutation;
    const key = claim === null ? null : claimKey(claim);
    const expires_at = claim === null ? null : claim.expires_at;
    return { kind: 'accepted', row: dispatchRow(dispatch, max_concurrent), claim: key, expires_at, now };
  }
  if (mutation.kind === 'advance' && isGoodEnd(mutation)) return { kind: 'ended', row: toAdvanceRow(mutation) };
  return { kind: 'other', mutation };
}

const isPlainAccept = ({ claiming, state, answer, inbox }: Accept): boolean =>
  claiming === 'now' && state === 'pending' && answer === undefined && !inbox;

const isGoodEnd = (m: Advance): boolean => isFinal(m.to) && !isFailure(m) && m.claim === undefined;

export function dispatchRow(dispatch: Dispatch, max_concurrent: number | null): DispatchRow {
  const { id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of } = dispatch;
  const head = JSON.stringify([event, delivery_id, replay_of]);
  return { id, profile, route, job, mode, accepted_at, max_concurrent, head, body: JSON.stringify(dispatch) };
}

export function toAdvanceRow({ ref, to, at, reason, ready_at, started_at, answer, steps }: Advance): AdvanceRow {
  return {
    ref,
    to,
    at,
    reason: reason === undefined ? null : JSON.stringify(reason),
    ready_at: ready_at ?? null,
    started_at: started_at ?? (to === 'running' ? at : null),
    answer: answer === undefined ? null : JSON.stringify(answer),
    steps: steps === undefined ? [] : steps.map((step) => JSON.stringify(step)),
  };
}

/**
 * One flat list for a whole batch: it crosses threads at a fraction of what its objects, or their JSON, would cost.
 * `unpack` reads it back.
 */
export function pack(batch: readonly Mutation[]): readonly Value[] {
  const values: Value[] = [];
  for (const mutation of batch) {
    const change = toChange(mutation);
    values.push(change.kind);
    if (change.kind === 'accepted') {
      const { row: d, claim, expires_at, now } = change;
      values.push(d.id, d.profile, d.route, d.job, d.mode, d.accepted_at, d.max_concurrent, d.head, d.body);
      values.push(claim, expires_at, now);
    } else if (change.kind === 'ended') {
      const { ref, to, at, reason, ready_at, started_at, answer, steps } = change.row;
      values.push(ref, to, at, reason, ready_at, started_at, answer, steps.length);
      for (const step of steps) values.push(step);
    } else values.push(JSON.stringify(change.mutation));
  }
  return values;
}

export function unpack(values: readonly Value[]): readonly Change[] {
  const changes: Change[] = [];
  let at = 0;
  // The fields come in the order in which `pack` has written them.
  const next = <T extends Value>(): T => values[at++] as T;
  while (at < values.length) {
    const kind = next<Change['kind']>();
    if (kind === 'accepted') {
      const row: DispatchRow = {
        id: next(),
        profile: next(),
        route: next(),
        job: next(),
        mode: next(),
        accepted_at: next(),
        max_concurrent: next(),
        head: next(),
        body: next(),
      };
      changes.push({ kind, row, claim: next(), expires_at: next(), now: next() });
    } else if (kind === 'ended') {
      const row = {
        ref: next<Ref>(),
        to: next<DispatchState>(),
        at: next<number>(),
        reason: next<string | null>(),
        ready_at: next<number | null>(),
        started_at: next<number | null>(),
        answer: next<string | null>(),
        steps: Array<string>(next<number>()).fill(''),
      };
      for (let index = 0; index < row.steps.length; index++) row.steps[index] = next();
      changes.push({ kind, row });
    } else changes.push({ kind, mutation: JSON.parse(next<string>()) as Mutation });
  }
  return changes;
}
