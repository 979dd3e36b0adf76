/** Creates the outcomes that drivers return. */
import type { DeliveryOutcome } from './deliverer.ts';

type Failed = Exclude<DeliveryOutcome, { readonly kind: 'ok' }>;

/** A failure, by default with nothing sent, no wait asked for and no protection against repeats. */
export function failed(
  kind: Failed['kind'],
  reason: string,
  more: Partial<Omit<Failed, 'kind' | 'reason'>> = {},
): Failed {
  return { kind, reason, retry_after_ms: null, idempotent: false, attempted: true, sent: 0, ...more };
}
