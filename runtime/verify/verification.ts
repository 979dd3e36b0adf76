/**
 * The result of verification, for the intake's response, its log line and its metrics, and its reasons in words for
 * operators. Never sent to the sender.
 */

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

/** The verifier's reasons in words, for operators; never sent to senders. */
export const REASON_TEXTS = {
  missing_signature: 'the request carries no signature of this source',
  missing_credential: 'the request carries no token of this source',
  malformed_signature: 'the signature has not the form this source uses (prefix, encoding, length)',
  unknown_version: 'the header holds signatures, but none of the version this source uses',
  stronger_scheme: 'it also carries headers of a stronger scheme, which must be used then',
  repeated_header: 'a header that is signed, or signs, is there twice',
  oversized_header: 'the header is longer than any signature',
  too_many_parts: 'the request has more signatures than any sender writes',
  missing_timestamp: 'the signed timestamp is missing',
  ambiguous_timestamp: 'there is more than one timestamp',
  bad_timestamp: 'the timestamp is not a time in the form this source uses',
  stale_timestamp: 'the timestamp is too old by now',
  future_timestamp: 'the timestamp lies in the future',
  missing_id: 'the signed id is missing',
  unreadable_body: 'this source signs parts of the body, which cannot be parsed',
  mismatch: 'the signature is not right under this secret',
  body_mismatch: 'the body is not the one whose digest was signed',
  unusable_secret: 'the secret has not the form of a key of this source',
  no_public_url: 'this source signs the URL, and no public URL is known',
} as const;
