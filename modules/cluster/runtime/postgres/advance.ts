/** Advances dispatches after a run or a delivery attempt. */

import type { DeliveryEnding } from '../../../../runtime/store/delivery-ending.ts';
import { endDelivering } from '../../../../runtime/store/delivery-ending.ts';
import type { HeadTarget, LargeTexts } from '../../../../runtime/store/encode.ts';
import type { Advance, MutationResults, RecordAttempt, Ref, Step } from '../../../../runtime/store/mutations.ts';
import { canAdvance } from '../../../../runtime/store/states.ts';
import type { WorkUnit } from './unit.ts';

/** Moves a dispatch to a state; false if it is unknown, held by another process, or has ended. */
export function advance(unit: WorkUnit, m: Advance, { answer }: LargeTexts): boolean {
  const { ref, to, at, started_at = null, reason = null, steps = [] } = m;
  const row = unit.loaded.open.get(ref);
  if (row === undefined || row.holder !== m.holder || !canAdvance(row.state, m)) return false;
  const due_at = to === 'pending' ? (m.due_at ?? at) : null;
  unit.move(row, { to, at, due_at, started_at, reason, answer, steps });
  if (to === 'delivering') {
    const [profile] = JSON.parse(row.lane) as [string];
    unit.addDeliveries(ref, profile, m.open ?? [], at);
  }
  unit.claim(m.claim);
  if (reason !== null && to !== 'skipped') unit.noteError(ref, at, reason);
  return true;
}

/** Records an attempt; null where `advance` returns false. */
export function recordAttempt(unit: WorkUnit, m: RecordAttempt): MutationResults['record_attempt'] {
  const { ref, at, step, due_at } = m;
  const row = unit.loaded.open.get(ref);
  const delivery = unit.heldDelivery(ref, m.index, m.holder);
  if (row === undefined || delivery === null) return null;
  if (due_at !== null) unit.retryDelivery(delivery, due_at, at);
  const isLeft = due_at !== null || unit.endDelivery(delivery);
  const steps = step === null ? [] : [step];
  const known = unit.loaded.steps.get(ref) ?? [];
  unit.loaded.steps.set(ref, [...known, ...steps]);
  const ended = isLeft ? null : endingOf(unit, ref, [...known, ...steps]);
  const reason = ended === null ? (step?.reason ?? null) : ended.reason;
  if (step !== null || ended !== null) unit.move(row, { to: ended?.state ?? 'delivering', at, reason, steps });
  if (reason !== null) unit.noteError(ref, at, reason);
  return ended ?? { state: 'delivering', reason: null };
}

function endingOf(unit: WorkUnit, ref: Ref, steps: readonly Step[]): DeliveryEnding {
  const targets = JSON.parse(unit.loaded.heads.get(ref)?.targets ?? '[]') as readonly HeadTarget[];
  return endDelivering(targets, steps);
}
