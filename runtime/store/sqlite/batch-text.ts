/**
 * A batch of the journal as text: lines of JSON, which has no line breaks of its own. What the tables keep as JSON is a
 * line already, and whoever brings the batch into them need not write it again.
 *
 *     +ref,expiry of the delivery id,accepted,cap     -ref,state,at,start of the run,number of steps
 *     dispatch                                        reason, answer, each step
 */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { claimKey } from '../claim-key.ts';
import type { Accept, Advance, Ref } from '../mutations.ts';
import type { FinalState } from '../states.ts';
import type { AdvanceRow } from './advance.ts';
import { toAdvanceRow } from './advance.ts';
import type { NewDispatch } from './table-rows.ts';
import { dispatchRow } from './table-rows.ts';

export interface Batch {
  readonly dispatches: readonly NewDispatch[];
  readonly ends: readonly AdvanceRow[];
}

const NONE = 'null';

/** An event to be run. Its delivery id is claimed with it. */
export function acceptText(ref: Ref, { dispatch, claim, now, max_concurrent }: Accept): string {
  const expiry = claim === null ? null : claim.expires_at;
  return `+${ref},${expiry},${now},${max_concurrent}\n${JSON.stringify(dispatch)}\n`;
}

/** A dispatch has come to an end. */
export function endText(change: Advance): string {
  const { ref, to, at, started_at, reason, answer, steps } = toAdvanceRow(change);
  const lines = `-${ref},${to},${at},${started_at},${steps.length}\n${reason ?? NONE}\n${answer ?? NONE}\n`;
  return steps.length === 0 ? lines : `${lines}${steps.join('\n')}\n`;
}

export function readBatch(text: string): Batch {
  const lines = text.split('\n');
  const dispatches: NewDispatch[] = [];
  const ends: AdvanceRow[] = [];
  // The last line is empty.
  for (let at = 0; at < lines.length - 1; ) {
    const head = lines[at] ?? '';
    const fields = head.slice(1).split(',');
    if (head.startsWith('+')) {
      dispatches.push(readDispatch(fields, lines[at + 1] ?? ''));
      at += 2;
    } else {
      const steps = at + 3;
      const next = steps + Number(fields[4]);
      ends.push(readEnd(fields, lines[at + 1] ?? NONE, lines[at + 2] ?? NONE, lines.slice(steps, next)));
      at = next;
    }
  }
  return { dispatches, ends };
}

const numberOf = (field: string | undefined): number | null =>
  field === undefined || field === NONE ? null : Number(field);
const textOf = (line: string): string | null => (line === NONE ? null : line);

function readDispatch([ref, expiry, now, cap]: readonly string[], body: string): NewDispatch {
  const dispatch = JSON.parse(body) as Dispatch;
  const { profile, route, delivery_id } = dispatch;
  const expiresAt = numberOf(expiry);
  return {
    ref: Number(ref),
    row: dispatchRow(dispatch, body, numberOf(cap)),
    state: 'pending',
    readyAt: Number(now),
    claim: expiresAt === null ? null : claimKey({ profile, route: route ?? '', delivery_id }),
    expiresAt,
    ended: null,
  };
}

function readEnd(
  [ref, to, at, started]: readonly string[],
  reason: string,
  answer: string,
  steps: readonly string[],
): AdvanceRow {
  return {
    ref: Number(ref),
    to: to as FinalState,
    at: Number(at),
    reason: textOf(reason),
    ready_at: null,
    started_at: numberOf(started),
    answer: textOf(answer),
    steps,
  };
}
