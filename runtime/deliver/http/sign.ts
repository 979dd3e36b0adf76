/** Computes the `{timestamp}` and `{signature}` (HMAC) of one request of a target plan. */
import { createHmac } from 'node:crypto';
import type { SignaturePlan } from '../../../schemas/generated/types.ts';
import { fillWith, linkFill, NO_VALUES } from './values.ts';

export interface Signed {
  readonly timestamp: string;
  readonly signature: string;
}

const UNSIGNED: Signed = { timestamp: '', signature: '' };

/** Both are empty when the plan's optional secret is not set. @param now Unix ms */
export type Sign = (now: number) => Signed;

/** Links a signature plan; null signs nothing. */
export function linkSign(plan: SignaturePlan | null, settings: ReadonlyMap<string, string>): Sign {
  if (plan === null) return () => UNSIGNED;
  const key = linkFill(plan.key, { settings });
  const message = linkFill(plan.message, { settings });
  return (now) => {
    const timestamp = String(Math.floor(now / plan.unit_ms));
    const values = { ...NO_VALUES, timestamp };
    const [keyText, messageText] = [fillWith(key, values), fillWith(message, values)];
    if (keyText === null || messageText === null) return UNSIGNED;
    return { timestamp, signature: createHmac(plan.hash, keyText).update(messageText, 'utf8').digest(plan.encoding) };
  };
}
