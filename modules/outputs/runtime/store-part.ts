/** The changes of approvals, within the store: the answer of a person, and the message that requests one. */
import { isInstant } from '../../../runtime/store/decode.ts';
import type { StorePart } from '../../../runtime/store/store-part.ts';

const isTime = (value: unknown): value is number => isInstant(value);

export const approvalsPart: StorePart = {
  // A getter, because the playground page has no URL to resolve a file against.
  get url() {
    return new URL('./store-part.js', import.meta.url).href;
  },
  changes: {
    answer_approval(delivery, { approve, by, reason, delay_ms = 0 }) {
      const isReason = reason === null || typeof reason === 'string';
      if (typeof approve !== 'boolean' || typeof by !== 'string' || !isReason || !isTime(delay_ms))
        throw new Error('an answer needs `approve`, `by` and `reason`');
      if (delivery.row.blocked_by !== 'approval') return false;
      delivery.end(approve, { outcome: approve ? 'approved' : 'rejected', reason, by }, delay_ms);
      return true;
    },
    undo_approval(delivery, { by, from, until }) {
      if (typeof by !== 'string' || !isTime(from) || !isTime(until))
        throw new Error('an undo needs `by`, `from` and `until`');
      if (delivery.row.blocked_by !== null) return false;
      delivery.block('approval', [from, until], { outcome: 'undone', by });
      return true;
    },
    tell_approval: (delivery) =>
      delivery.row.blocked_by === 'approval' && delivery.row.told_at === null && delivery.tell(),
  },
};
