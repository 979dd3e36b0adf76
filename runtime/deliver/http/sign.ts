/** The HMAC primitive of target plans: `{timestamp}` and `{signature}` of one request. */
import { createHmac } from 'node:crypto';
import type { SignaturePlan } from '../../../schemas/generated/types.ts';
import type { Values } from './values.ts';
import { fill } from './values.ts';

export interface Signed {
  readonly timestamp: string;
  readonly signature: string;
}

const UNSIGNED: Signed = { timestamp: '', signature: '' };

/** Both empty when the plan's optional secret is not set. `now`: unix ms. */
export function sign(plan: SignaturePlan | null, values: Values, now: number): Signed {
  if (plan === null) return UNSIGNED;
  const timestamp = String(Math.floor(now / plan.unit_ms));
  const known = { ...values, timestamp };
  const key = fill(plan.key, known);
  const message = fill(plan.message, known);
  if (key === null || message === null) return UNSIGNED;
  return { timestamp, signature: createHmac(plan.hash, key).update(message, 'utf8').digest(plan.encoding) };
}
