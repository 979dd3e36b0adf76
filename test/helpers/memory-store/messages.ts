/** Messages in the store in memory: a later attempt of the sender, and a replay, continue the row. */

import type { Accept, MutationResults, Resend } from '../../../runtime/store/contract.ts';
import type { StoredClaim } from '../../../runtime/store/records.ts';
import type { Step } from '../../../runtime/store/states.ts';
import { wasRejected } from '../../../runtime/store/states.ts';
import { withdrawnStep } from '../../../runtime/store/unit/message.ts';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import { addDeliveries } from './dispatches.ts';
import type { MutationHandlers } from './handlers.ts';
import type { DispatchRow, MemoryTables } from './tables.ts';
import { addAction, claim, move, namesOf, sessionOf, setMessage, targetsOf } from './tables.ts';

type Delivery = Dispatch['deliveries'][number];

export function messageHandlers(tables: MemoryTables): Pick<MutationHandlers, 'resend'> {
  return { resend: (m) => resend(tables, m) };
}

/** Null: there is no row to continue. */
export function continueMessage(tables: MemoryTables, m: Accept, of: StoredClaim): MutationResults['accept'] | null {
  const known = namesOf(of).find((name) => tables.messages.has(name));
  const row = tables.dispatches.get(tables.messages.get(known ?? '')?.ref ?? 0);
  if (row === undefined || row.state === 'done' || wasRejected(row)) return null;
  const isMine = m.work.kind === 'held' && row.holder === m.work.holder;
  if (row.state === 'delivering' && !isMine) {
    return row.holder === null ? { kind: 'duplicate' } : { kind: 'held' };
  }
  const { id, accepted_at, replay_of } = row;
  const rendered = [...m.dispatch.deliveries];
  const deliveries = row.dispatch.deliveries.map((delivery, index) => {
    const last = lastOf(row, index);
    const isHalfSent = last !== undefined && last.outcome !== 'ok' && last.sent > 0;
    const hasChanged = isHalfSent && row.dispatch.prompt !== m.dispatch.prompt;
    const at = hasChanged ? -1 : rendered.findIndex((one) => nameOf(one) === nameOf(delivery));
    const isAnother = row.dispatch.prompt !== m.dispatch.prompt;
    if (at >= 0 || isOver(last)) {
      const voided = { ...withdrawnStep(index, last?.sent ?? 0, m.now), outcome: 'rejected' } as const;
      if (isAnother && isApproved(row, index)) row.steps = [...row.steps, voided];
    }
    if (at >= 0) return rendered.splice(at, 1)[0] as Delivery;
    if (!isOver(last)) row.steps = [...row.steps, withdrawnStep(index, last?.sent ?? 0, m.now)];
    return delivery;
  });
  reopen(tables, row, m.now);
  row.dispatch = { ...m.dispatch, id, accepted_at, replay_of, deliveries: [...deliveries, ...rendered] };
  const { event, delivery_id } = m.dispatch;
  Object.assign(row, { event, delivery_id, session: sessionOf(m.dispatch), targets: targetsOf(m.dispatch) });
  if (m.work.kind === 'held') row.holder = m.work.holder;
  setMessage(tables, of, row.ref, m.now);
  if (m.claiming === 'now') claim(tables, of);
  if (m.work.kind === 'deliveries') due(tables, row, m.now, (index) => !isOver(lastOf(row, index)));
  const continued = { id, accepted_at, deliveries: row.dispatch.deliveries, steps: row.steps };
  return { kind: 'stored', ref: row.ref, continued };
}

function resend(tables: MemoryTables, { ref, key, again, by, now }: Resend): MutationResults['resend'] {
  const row = tables.dispatches.get(ref);
  if (row === undefined) return { kind: 'unknown' };
  if (row.state === 'pending' || row.state === 'running' || row.state === 'delivering') return { kind: 'open' };
  if (row.state === 'done' && !again) return { kind: 'done' };
  const names = namesOf(key);
  const byId = tables.messages.get(names[0] ?? '');
  if (byId !== undefined && byId.ref !== ref && !again) return { kind: 'superseded', by: byId.ref };
  for (const name of names) {
    const message = tables.messages.get(name) ?? { ref, ttl_ms: 3_600_000 };
    if (message.ref !== ref) continue;
    tables.messages.set(name, message);
    tables.claims.set(name, now + message.ttl_ms);
  }
  reopen(tables, row, now);
  if (by !== undefined) addAction(row, 'replayed', by, now);
  due(tables, row, now, (index) => (again ? lastOf(row, index)?.outcome !== 'withdrawn' : !isOver(lastOf(row, index))));
  return { kind: 'stored' };
}

function reopen(tables: MemoryTables, row: DispatchRow, now: number): void {
  move(tables, row, 'delivering');
  Object.assign(row, { finished_at: null, reason: null, holder: null, due_at: now, set_at: now });
}

const isApproved = ({ steps }: DispatchRow, at: number): boolean =>
  steps
    .filter(({ index, outcome }) => index === at && ['approved', 'rejected', 'undone', 'ok'].includes(outcome))
    .at(-1)?.outcome === 'approved';

function due(tables: MemoryTables, row: DispatchRow, now: number, isMeant: (index: number) => boolean): void {
  const open = row.dispatch.deliveries
    .map(({ target, approve_ms }, index) =>
      approve_ms === undefined || isApproved(row, index)
        ? { index, target, due_at: now }
        : { index, target, due_at: now + approve_ms, blocked_by: 'approval' as const },
    )
    .filter(({ index }) => isMeant(index));
  addDeliveries(tables, row, open, now);
  if (open.length > 0) return;
  move(tables, row, 'done');
  row.finished_at = now;
}

const lastOf = (row: DispatchRow, index: number): Step | undefined =>
  row.steps.findLast((step) => step.kind === 'delivery' && step.index === index);

const isOver = (step: Step | undefined): boolean => step?.outcome === 'ok' || step?.outcome === 'withdrawn';

const nameOf = ({ target, extra }: Delivery): string => JSON.stringify([target, Object.entries(extra).sort()]);
