/** Codes for why a signature was refused; docs/why-ignored.md explains each. */
import type { VerifyReason } from './verification.ts';

export type CauseCode = VerifyReason | FoundCause;

/** Found by trying the usual mistakes, or by looking elsewhere in the request. */
export type FoundCause =
  | NearMissCode
  | 'misplaced_secret'
  | 'old_secret'
  | 'other_scheme'
  | 'timestamp_unit'
  /** A guess: nothing that was tried makes the signature right. */
  | 'unknown';

/** One change would make the signature right. */
export type NearMissCode =
  | 'body_rewritten'
  | 'byte_order_mark'
  | 'encoding'
  | 'form_payload'
  | 'hash_function'
  | 'line_break'
  | 'line_endings'
  | 'prefix'
  | 'public_url'
  | 'secret_form'
  | 'secret_whitespace'
  | 'signed_content';

/** The verifier's reasons in words, for operators; never sent to senders. */
export const REASON_TEXTS: Readonly<Record<VerifyReason, string>> = {
  missing_signature: 'the request carries no signature of this source',
  missing_credential: 'the request carries no token of this source',
  malformed_signature: 'the signature has not the form this source uses (prefix, encoding, length)',
  unknown_version: 'the header holds signatures, but none of the version this source uses',
  stronger_scheme: 'it also carries headers of a stronger scheme, which must be used then',
  repeated_header: 'a header that is signed, or signs, is there twice',
  oversized_header: 'the header is longer than any signature',
  too_many_parts: 'the header lists more signatures than any sender',
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
};
