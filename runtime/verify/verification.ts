/** The result of verification, for the intake's answer, its log line and its metrics. Never sent to the sender. */
import type { REASON_TEXTS } from './cause-code.ts';

/** Why a request was refused; the texts say what each means. */
export type VerifyReason = keyof typeof REASON_TEXTS;

export type Verification =
  /** `secret`: index of the secret that matched; -1 when the route is INSECURE_NO_AUTH (scheme `none`). */
  { readonly ok: true; readonly scheme: string; readonly secret: number } | Refused;

/** `scheme`: the one that decided; null when no signature was present. */
export interface Refused {
  readonly ok: false;
  readonly scheme: string | null;
  readonly reason: VerifyReason;
}
