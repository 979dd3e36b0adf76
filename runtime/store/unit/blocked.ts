/**
 * Deliveries that are blocked until a person releases them. Each is an ordinary delivery row that is due when its wait
 * ends:
 *
 *   blocked ──┬─ released ──> due immediately or after a delay, and sent exactly as it was shown; within the delay, it can be blocked again
 *             ├─ refused ───> due immediately, still blocked: it ends unsent
 *             └─ no answer: due when its time has expired, still blocked: it ends unsent
 *
 * A module makes the changes (store-part.ts). The first one that ends the wait counts.
 */
import type { ChangeDelivery, OpenDelivery, TakenAttempt } from '../contract.ts';
import type { Headed, HeadTarget, LargeTexts } from '../group-commit.ts';
import type { Ref } from '../records.ts';
import { actionStep } from '../states.ts';
import type { DeliveryRow } from './rows.ts';
import type { WorkUnit } from './unit.ts';

/** A delivery that is due now, or blocked. @param now Unix ms */
export function openDelivery(
  { target, approve_ms }: HeadTarget,
  index: number,
  now: number,
  isReleased = false,
): OpenDelivery {
  return approve_ms === undefined || isReleased
    ? { index, target, due_at: now }
    : { index, target, due_at: now + approve_ms, blocked_by: 'approval' };
}

/** The columns that say whether a delivery is blocked, and whether its wait has ended before its time. */
export type BlockColumns = Pick<DeliveryRow, 'blocked_by' | 'due_at' | 'set_at'>;

export const takenAttempt = (ref: Ref, index: number, { blocked_by, due_at, set_at }: BlockColumns): TakenAttempt =>
  blocked_by === null ? { ref, index } : { ref, index, unsent: due_at > set_at ? 'expired' : 'refused' };

/** `set_at` of a delivery that is put back: one that was refused stays refused, and one that has expired waits no longer. */
export function setAt({ blocked_by, due_at, set_at }: BlockColumns, next: number, at: number): number {
  if (blocked_by === null) return at;
  return due_at > set_at ? set_at : next;
}

/** Makes a module's change. False: the change does not apply, the delivery was changed at a later instant, or it is due. */
export function changeDelivery(unit: WorkUnit, m: Headed<ChangeDelivery>, texts: LargeTexts): boolean {
  const { ref, index, since, now } = m;
  const change = unit.parts.changes.get(m.change);
  if (change === undefined) throw new Error(`the change "${m.change}" needs a module that is not loaded`);
  const work = unit.rows.work.get(ref);
  const row = unit.rows.deliveries.get(ref)?.get(index);
  if (work === undefined || row === undefined || row.holder !== null) return false;
  if (row.set_at !== since || row.due_at <= now) return false;
  return change(
    {
      row,
      end(isSent, step, delayMs = 0) {
        if (isSent) row.blocked_by = null;
        unit.retryDelivery(row, now + delayMs, now);
        const times = { started_at: since, at: now, next_at: delayMs === 0 ? null : row.due_at };
        const all = { kind: 'delivery', index, ...times, ...step, sent: 0, message_id: null } as const;
        unit.move(work, { to: 'delivering', at: now, steps: [all] });
      },
      block(by, [from, until], step) {
        row.blocked_by = by;
        unit.retryDelivery(row, until, from);
        unit.move(work, { to: 'delivering', at: now, steps: [actionStep({ ...step, at: now }, index)] });
      },
      tell() {
        if (m.dispatch === null) return false;
        row.told_at = now;
        unit.retryDelivery(row, row.due_at, row.set_at);
        unit.insertMessage(m.dispatch, texts, now);
        return true;
      },
    },
    m.values,
  );
}
