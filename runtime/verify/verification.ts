/**
 * The result of verification, for the intake's response, its log line and its metrics, and the texts of its reasons for
 * operators. Never sent to the sender.
 */

import { REASON_TEXTS } from './built/reasons.ts';

export { REASON_TEXTS };

/** Why a request was rejected; see the texts. */
export type VerifyReason = keyof typeof REASON_TEXTS;

export type Verification =
  /** `secret`: index of the matching secret; -1 if the route is INSECURE_NO_AUTH (scheme `none`). */
  { readonly ok: true; readonly scheme: string; readonly secret: number } | Refused;

/** `scheme`: the one that decided; null without a signature. */
export interface Refused {
  readonly ok: false;
  readonly scheme: string | null;
  readonly reason: VerifyReason;
}
