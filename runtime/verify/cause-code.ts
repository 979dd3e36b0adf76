/** The code of what went wrong with a refused signature; docs/why-ignored.md explains each. */
import type { VerifyReason } from './verification.ts';

export type CauseCode = VerifyReason | FoundCause;

/** What is found by trying what usually goes wrong, or by looking elsewhere in the request. */
export type FoundCause =
  | NearMissCode
  | 'misplaced_secret'
  | 'old_secret'
  | 'other_scheme'
  | 'timestamp_unit'
  /** A guess: nothing that was tried makes the signature right. */
  | 'unknown';

/** The signature is right but for one thing. */
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
