/** Computes the `{key}` of a piece: the same for every attempt, different for every piece and delivery. */
import { createHash } from 'node:crypto';
import type { VariantPlan } from '../../../schemas/generated/types.ts';

/** @param root DeliveryRequest.key @param piece index of the piece */
export function idempotencyKey(plan: VariantPlan['key'], root: string, piece: number): string {
  const hex = createHash('sha256').update(`${root}\n${piece}`, 'utf8').digest('hex');
  return plan.form === 'uuid' ? toUuid(hex) : hex.slice(0, plan.max_length);
}

/** A UUID of version 8 (RFC 9562), whose bits are custom. */
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
