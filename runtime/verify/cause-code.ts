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
