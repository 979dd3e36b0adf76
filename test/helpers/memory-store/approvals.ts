/** Deliveries that wait for approval, in the store in memory. */
import type { QueryResults } from '../../../runtime/store/queries.ts';
import { addMessage } from './dispatches.ts';
import type { MutationHandlers } from './handlers.ts';
import type { DeliveryRow, MemoryTables } from './tables.ts';

export function approvalHandlers(tables: MemoryTables): Pick<MutationHandlers, 'change_delivery'> {
  return {
    change_delivery({ change, ref, index, since, values, dispatch, now }) {
      if (!['answer_approval', 'tell_approval'].includes(change)) throw new Error(`unknown change ${change}`);
      const row = tables.dispatches.get(ref);
      const asked = blockedRows(tables).find((one) => one.ref === ref && one.index === index);
      if (row === undefined || asked === undefined || asked.set_at !== since || asked.due_at <= now) return false;
      if (change === 'tell_approval') {
        if (asked.toldAt !== null || dispatch === null) return false;
        asked.toldAt = now;
        addMessage(tables, dispatch, now);
        return true;
      }
      const { approve, by, reason } = values as { approve: boolean; by: string; reason: string | null };
      if (typeof approve !== 'boolean' || typeof by !== 'string') throw new Error('invalid answer');
      Object.assign(asked, { holds: approve ? null : 'rejected', due_at: now, set_at: now });
      const outcome = approve ? 'approved' : 'rejected';
      const times = { started_at: now, at: now, next_at: null };
      const step = { kind: 'delivery', index, outcome, ...times, reason, sent: 0, message_id: null, by } as const;
      Object.assign(row, { steps: [...row.steps, step], reason: null });
      return true;
    },
  };
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
