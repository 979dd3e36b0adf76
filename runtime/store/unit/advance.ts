/** Advances dispatches after a run or a delivery attempt. */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Headed, LargeTexts } from '../encode.ts';
import { headOf, headText } from '../encode.ts';
import type { Ref } from '../identity.ts';
import { laneParts, routeLane } from '../identity.ts';
import type { MutationResults } from '../mutations.ts';
import type { DeliveryEnding, Step } from '../states.ts';
import { canAdvance, endDelivering, isRejected } from '../states.ts';
import type { Advance, GiveUp, RecordAttempt } from '../work-mutations.ts';
import { spendIn } from './budget.ts';
import { settleClaim } from './message.ts';
import type { WorkUnit } from './unit.ts';

/** Moves a dispatch to a state; false if it is unknown, held by another process, or has ended. */
export function advance(unit: WorkUnit, m: Headed<Advance>, { answer, body }: LargeTexts): boolean {
  const { ref, to, at, started_at = null, reason = null, steps = [] } = m;
  const row = unit.rows.work.get(ref);
  if (row === undefined || row.holder !== m.holder || !canAdvance(row.state, m)) return false;
  const due_at = to === 'pending' ? (m.due_at ?? at) : null;
  const program = m.program === undefined ? null : JSON.stringify(m.program);
  if (m.usage !== undefined) unit.newUsage.push({ ...m.usage, ref, at });
  if (m.dispatch !== undefined && body !== null) {
    const { targets } = m.dispatch;
    const head = headText(m.dispatch, (JSON.parse(body) as Dispatch).superseded);
    unit.changedBodies.push({ ref, lane: routeLane(row.lane), head, targets, body, grown: m.grown ?? 0 });
  }
  if (m.budgets !== undefined && m.usage !== undefined) spendIn(unit, m.budgets, m.usage, at);
  unit.move(row, { to, at, due_at, started_at, reason, answer, program, steps });
  if (m.held === true) row.holder = m.holder;
  else if (to === 'delivering') {
    unit.addDeliveries(ref, laneParts(row.lane).profile, m.open ?? [], at);
  }
  unit.claim(m.claim);
  if (m.message !== undefined)
    unit.insertMessage(headOf(m.message), { body: JSON.stringify(m.message), answer: null }, at);
  if (reason !== null && to !== 'skipped') unit.noteError(ref, at, reason);
  return true;
}

/** Records an attempt; null where `advance` returns false. */
export function recordAttempt(unit: WorkUnit, m: RecordAttempt): MutationResults['record_attempt'] {
  const { ref, at, step, due_at } = m;
  const row = unit.rows.work.get(ref);
  const delivery = unit.heldDelivery(ref, m.index, m.holder);
  if (row === undefined || delivery === null) return null;
  if (due_at !== null) unit.retryDelivery(delivery, due_at, at);
  const isLeft = due_at !== null || unit.endDelivery(delivery);
  const steps = step === null ? [] : [step];
  const all = [...unit.stepsOf(row), ...steps];
  const ended = isLeft ? null : endingOf(unit, ref, all);
  const reason = ended === null ? (step?.reason ?? null) : ended.reason;
  if (step !== null || ended !== null) unit.move(row, { to: ended?.state ?? 'delivering', at, reason, steps });
  if (reason !== null && !isRejected(all, m.index)) unit.noteError(ref, at, reason);
  if (ended !== null && m.key !== undefined) settleClaim(unit, ref, m.key, ended.state !== 'dead', at);
  return ended ?? { state: 'delivering', reason: null };
}

/** Ends a dispatch whose stored values cannot be used; false if it is unknown or has ended. */
export function giveUp(unit: WorkUnit, { ref, at, reason }: GiveUp): boolean {
  const row = unit.rows.work.get(ref);
  if (row === undefined) return false;
  for (const delivery of [...(unit.rows.deliveries.get(ref)?.values() ?? [])]) unit.endDelivery(delivery);
  unit.move(row, { to: 'dead', at, reason });
  unit.noteError(ref, at, reason);
  return true;
}

/** The final state after the last delivery. The targets are read only when an attempt has failed. */
function endingOf({ rows }: WorkUnit, ref: Ref, steps: readonly Step[]): DeliveryEnding {
  const hasFailed = steps.some(({ kind, outcome }) => kind === 'delivery' && outcome !== 'ok');
  return endDelivering(hasFailed ? rows.targetsOf(ref) : [], steps);
}
