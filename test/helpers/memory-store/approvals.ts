/** Deliveries that wait for approval, in the store in memory. */
import type { ChangeDelivery } from '../../../runtime/store/contract.ts';
import type { QueryResults } from '../../../runtime/store/queries.ts';
import { addMessage } from './dispatches.ts';
import type { MutationHandlers } from './handlers.ts';
import type { DeliveryRow, MemoryTables } from './tables.ts';

export function approvalHandlers(tables: MemoryTables): Pick<MutationHandlers, 'change_delivery'> {
  return {
    change_delivery({ change, ref, index, since, values, dispatch, now }) {
      if (!['answer_approval', 'tell_approval', 'undo_approval'].includes(change))
        throw new Error(`unknown change ${change}`);
      const row = tables.dispatches.get(ref);
      if (change === 'undo_approval') return undo(tables, { ref, index, since, now }, values as unknown as Undo);
      const asked = blockedRows(tables).find((one) => one.ref === ref && one.index === index);
      if (row === undefined || asked === undefined || asked.set_at !== since || asked.due_at <= now) return false;
      if (change === 'tell_approval') {
        if (asked.toldAt !== null || dispatch === null) return false;
        asked.toldAt = now;
        addMessage(tables, dispatch, now);
        return true;
      }
      const { approve, by, reason, delay_ms = 0 } = values as unknown as Answer;
      if (typeof approve !== 'boolean' || typeof by !== 'string') throw new Error('invalid answer');
      Object.assign(asked, { holds: approve ? null : 'rejected', due_at: now + delay_ms, set_at: now });
      const outcome = approve ? 'approved' : 'rejected';
      const times = { started_at: since, at: now, next_at: delay_ms > 0 ? now + delay_ms : null };
      const step = { kind: 'delivery', index, outcome, ...times, reason, sent: 0, message_id: null, by } as const;
      Object.assign(row, { steps: [...row.steps, step], reason: null });
      return true;
    },
  };
}

interface Answer {
  readonly approve: boolean;
  readonly by: string;
  readonly reason: string | null;
  readonly delay_ms?: number;
}

interface Undo {
  readonly by: string;
  readonly from: number;
  readonly until: number;
}

type Of = Pick<ChangeDelivery, 'ref' | 'index' | 'since' | 'now'>;

function undo(tables: MemoryTables, { ref, index, since, now }: Of, { by, from, until }: Undo): boolean {
  const row = tables.dispatches.get(ref);
  const open = [...tables.deliveries].find((one) => one.ref === ref && one.index === index);
  if (row === undefined || open === undefined || open.holder !== null || open.holds !== null) return false;
  if (open.set_at !== since || open.due_at <= now) return false;
  Object.assign(open, { holds: 'waits', due_at: until, set_at: from });
  const step = { kind: 'action', index, outcome: 'undone', started_at: now, at: now, by } as const;
  const rest = { next_at: null, reason: null, sent: 0, message_id: null };
  Object.assign(row, { steps: [...row.steps, { ...step, ...rest }], reason: null });
  return true;
}

const blockedRows = ({ deliveries }: MemoryTables): readonly DeliveryRow[] =>
  [...deliveries].filter((row) => row.holder === null && row.holds === 'waits');

export const blocked = (tables: MemoryTables): QueryResults['blocked'] =>
  blockedRows(tables)
    .map(({ ref, index, set_at: since, due_at: expires_at, toldAt: told_at }) => {
      const { id = '', profile = '', route = null, job = null } = tables.dispatches.get(ref) ?? {};
      const of = { ref, index, id, profile, route, job, since, expires_at };
      return { ...of, blocked_by: 'approval', told_at } as const;
    })
    .sort((a, b) => a.ref - b.ref || a.index - b.index);
