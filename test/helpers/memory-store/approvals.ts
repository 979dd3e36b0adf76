/** Deliveries that wait for approval, in the store in memory. */
import type { MutationResults } from '../../../runtime/store/contract.ts';
import type { QueryResults } from '../../../runtime/store/queries.ts';
import { addMessage } from './dispatches.ts';
import type { MutationHandlers } from './handlers.ts';
import type { DeliveryRow, MemoryTables } from './tables.ts';

export function approvalHandlers(tables: MemoryTables): Pick<MutationHandlers, 'answer_approval' | 'tell_approval'> {
  return {
    answer_approval({ ref, index, since, approve, by, reason, now }): MutationResults['answer_approval'] {
      const row = tables.dispatches.get(ref);
      const asked = waiting(tables).find((one) => one.ref === ref && one.index === index);
      if (row === undefined || asked === undefined || asked.set_at !== since || asked.due_at <= now) return false;
      Object.assign(asked, { waiting: approve ? null : 'rejected', due_at: now, set_at: now });
      const outcome = approve ? 'approved' : 'rejected';
      const times = { started_at: now, at: now, next_at: null };
      const step = { kind: 'delivery', index, outcome, ...times, reason, sent: 0, message_id: null, by } as const;
      Object.assign(row, { steps: [...row.steps, step], reason: null });
      return true;
    },
    tell_approval({ ref, index, dispatch, now }) {
      const asked = waiting(tables).find((one) => one.ref === ref && one.index === index);
      if (asked?.waiting !== 'new') return false;
      asked.waiting = 'told';
      addMessage(tables, dispatch, now);
      return true;
    },
  };
}

const waiting = ({ deliveries }: MemoryTables): readonly DeliveryRow[] =>
  [...deliveries].filter((row) => row.holder === null && (row.waiting === 'new' || row.waiting === 'told'));

export const approvals = (tables: MemoryTables): QueryResults['approvals'] =>
  waiting(tables)
    .map(({ ref, index, set_at: since, due_at: expires_at, waiting: state }) => {
      const { id = '', profile = '', route = null, job = null } = tables.dispatches.get(ref) ?? {};
      return {
        ref,
        index,
        id,
        profile,
        route,
        job,
        since,
        expires_at,
        waiting: state === 'new' ? 'new' : 'told',
      } as const;
    })
    .sort((a, b) => a.ref - b.ref || a.index - b.index);
