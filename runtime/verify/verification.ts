/** The result of verification, for the intake's answer, its log line and its metrics. Never sent to the sender. */

export type VerifyReason =
  /** No signature of any scheme that the route accepts. */
  | 'missing_signature'
  /** The token or the credentials are absent. */
  | 'missing_credential'
  | 'malformed_signature'
  /** Signatures, but none of the version that the scheme requires. */
  | 'unknown_version'
  /** The request carries a header of a stronger scheme, which must be used instead of this one. */
  | 'stronger_scheme'
  /** A header that the scheme reads is repeated. */
  | 'repeated_header'
  | 'oversized_header'
  | 'too_many_parts'
  | 'missing_timestamp'
  /** More than one timestamp. */
  | 'ambiguous_timestamp'
  | 'bad_timestamp'
  | 'stale_timestamp'
  | 'future_timestamp'
  | 'missing_id'
  /** The scheme signs a part of the body, which cannot be parsed. */
  | 'unreadable_body'
  | 'mismatch'
  /** The signed digest does not match the body. */
  | 'body_mismatch'
  /** None of the route's secrets is a key of this scheme, or all have expired. */
  | 'unusable_secret'
  /** The scheme signs the URL and the route has no `public_url`. */
  | 'no_public_url';

export type Verification =
  /** `secret`: index of the secret that matched; -1 when the route is INSECURE_NO_AUTH (scheme `none`). */
  { readonly ok: true; readonly scheme: string; readonly secret: number } | Refused;

/** `scheme`: the one that decided; null when no signature was present. */
export interface Refused {
  readonly ok: false;
  readonly scheme: string | null;
  readonly reason: VerifyReason;
}
