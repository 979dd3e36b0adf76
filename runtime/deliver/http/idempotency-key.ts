/** The `{key}` of a piece: the same for every attempt to send it, different for every other piece and delivery. */
import { createHash } from 'node:crypto';
import type { VariantPlan } from '../../../schemas/generated/types.ts';

/** `root`: DeliveryRequest.key; `piece`: its index in the text. */
export function idempotencyKey(plan: VariantPlan['key'], root: string, piece: number): string {
  const hex = createHash('sha256').update(`${root}\n${piece}`, 'utf8').digest('hex');
  return plan.form === 'uuid' ? toUuid(hex) : hex.slice(0, plan.max_length);
}

/** Version 8 of RFC 9562: a UUID whose bits are the maker's own. */
function toUuid(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
