/**
 * The result of verification, for the intake's response, its log line and its metrics, and the texts of its reasons for
 * operators. Never sent to the sender.
 */

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

/** The verifier's reasons in words, for operators; never sent to senders. */
export const REASON_TEXTS = {
  missing_signature: 'the request has no signature of this source',
  missing_credential: 'the request has no token of this source',
  malformed_signature: 'the signature does not have the form of this source (prefix, encoding, length)',
  unknown_version: 'the header has signatures, but none of the version that this source uses',
  stronger_scheme: 'the request also has headers of a stronger scheme, which must then be used',
  repeated_header: 'a signed or signing header is repeated',
  oversized_header: 'the header is longer than any signature',
  too_many_parts: 'the request has more signatures than any sender uses',
  missing_timestamp: 'the signed timestamp is missing',
  ambiguous_timestamp: 'the request has more than one timestamp',
  bad_timestamp: 'the timestamp does not have the form of this source',
  stale_timestamp: 'the timestamp is too old',
  future_timestamp: 'the timestamp is in the future',
  missing_id: 'the signed id is missing',
  unreadable_body: 'this source signs parts of the body, which cannot be parsed',
  mismatch: 'the signature does not match this secret',
  body_mismatch: 'the body does not match the signed digest',
  unusable_secret: 'the secret does not have the form of a key of this source',
  no_public_url: 'this source signs the URL, but no public URL is set',
} as const;
