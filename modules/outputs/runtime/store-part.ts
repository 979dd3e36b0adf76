/** The changes of approvals, within the store: the answer of a person, and the message that requests one. */
import type { StorePart } from '../../../runtime/store/store-part.ts';

export const approvalsPart: StorePart = {
  // A getter, because the playground page has no URL to resolve a file against.
  get url() {
    return new URL('./store-part.js', import.meta.url).href;
  },
  changes: {
    answer_approval(delivery, { approve, by, reason }) {
      if (typeof approve !== 'boolean' || typeof by !== 'string' || (reason !== null && typeof reason !== 'string'))
        throw new Error('an answer needs `approve`, `by` and `reason`');
      if (delivery.row.blocked_by !== 'approval') return false;
      delivery.end(approve, { outcome: approve ? 'approved' : 'rejected', reason, by });
      return true;
    },
    tell_approval: (delivery) =>
      delivery.row.blocked_by === 'approval' && delivery.row.told_at === null && delivery.tell(),
  },
};
