/** Converts the detail of a reason to the form in which it is kept and printed (`schemas/requests.schema.json`). */

import type { ReasonDetail } from '../../../../runtime/intake/reason.ts';
import type { KeptReason } from '../../../../schemas/generated/types.ts';

export function keptReason(detail: ReasonDetail | null): KeptReason | null {
  switch (detail?.kind) {
    case undefined:
      return null;
    case 'signature': {
      const { kind, scheme, lookedFor, otherSources, ageSeconds, sent } = detail;
      return {
        kind,
        scheme,
        looked_for: [...lookedFor],
        other_sources: [...otherSources],
        age_seconds: ageSeconds,
        sent: { event: sent.event, delivery_id: sent.deliveryId },
      };
    }
    case 'event':
      return { kind: 'event', accepts: [...detail.accepts] };
    default:
      return detail;
  }
}
