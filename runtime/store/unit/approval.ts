/**
 * Deliveries that wait for approval. Each is an ordinary delivery row whose due time is when the approval expires:
 *
 *   new ──> told ──┬─ approved ──> due immediately, and sent exactly as it was shown
 *    └─────────────┼─ rejected ──> due immediately, and ended unsent
 *                  └─ no answer: due when it expires, and ended unsent
 *
 * The first answer counts: it ends the waiting in the change that stores it.
 */
import type { AnswerApproval, OpenDelivery, TakenAttempt, TellApproval } from '../contract.ts';
import type { Headed, HeadTarget, LargeTexts } from '../group-commit.ts';
import type { Ref } from '../records.ts';
import type { Waiting } from '../states.ts';
import type { DeliveryRow } from './rows.ts';
import type { WorkUnit } from './unit.ts';

/** A delivery that is due now, or waits for its approval. @param now Unix ms */
export function openDelivery(
  { target, approve_ms }: HeadTarget,
  index: number,
  now: number,
  isApproved = false,
): OpenDelivery {
  return approve_ms === undefined || isApproved
    ? { index, target, due_at: now }
    : { index, target, due_at: now + approve_ms, waiting: true };
}

export const takenAttempt = (ref: Ref, index: number, waiting: Waiting | null): TakenAttempt =>
  waiting === null ? { ref, index } : { ref, index, waiting };

/** Stores an answer. False: the delivery no longer waits, or has waited only since a later instant. */
export function storeAnswer(unit: WorkUnit, m: Headed<AnswerApproval>): boolean {
  const { ref, index, since, approve, by, reason, now } = m;
  const work = unit.rows.work.get(ref);
  const row = waitingRow(unit, ref, index);
  if (work === undefined || row === null || row.set_at !== since || row.due_at <= now) return false;
  row.waiting = approve ? null : 'rejected';
  unit.retryDelivery(row, now, now);
  const outcome = approve ? 'approved' : 'rejected';
  const step = { kind: 'delivery', index, outcome, started_at: now, at: now, reason, next_at: null } as const;
  unit.move(work, { to: 'delivering', at: now, steps: [{ ...step, sent: 0, message_id: null, by }] });
  return true;
}

/** Stores the request. False: the delivery no longer waits, or the request was already sent. */
export function storeRequest(unit: WorkUnit, m: Headed<TellApproval>, texts: LargeTexts): boolean {
  const row = waitingRow(unit, m.ref, m.index);
  if (row?.waiting !== 'new') return false;
  row.waiting = 'told';
  unit.retryDelivery(row, row.due_at, row.set_at);
  unit.insertMessage(m.dispatch, texts, m.now);
  return true;
}

function waitingRow({ rows }: WorkUnit, ref: Ref, index: number): DeliveryRow | null {
  const row = rows.deliveries.get(ref)?.get(index);
  return row === undefined || row.holder !== null || row.waiting === null || row.waiting === 'rejected' ? null : row;
}
