/** All reason codes: stages store them in the intake, and kept requests can be searched by them. */
import type { Refusal } from '../dispatch/dispatcher.ts';
import { REASON_TEXTS } from '../verify/reason-texts.ts';
import type { VerifyReason } from '../verify/verification.ts';
import type { BodyFormatFault } from './parse-body.ts';
import type { IgnoredReason } from './reply.ts';

export type ReasonCode = VerifyReason | OtherReason;

type OtherReason =
  | IgnoredReason
  | BodyFormatFault
  | Extract<Refusal, { readonly kind: 'overloaded' }>['reason']
  | 'body_overloaded'
  | 'body_too_slow'
  | 'commit_in_doubt'
  | 'delivery_failed'
  | 'foreign_host'
  | 'foreign_origin'
  | 'foreign_site'
  | 'internal_error'
  | 'job_already_running'
  | 'no_verify_token'
  | 'script_busy'
  | 'too_busy'
  | 'unknown_sender'
  | 'wrong_verify_token';

const OTHERS: Readonly<Record<OtherReason, true>> = {
  age: true,
  body_overloaded: true,
  body_too_slow: true,
  commit_in_doubt: true,
  content_encoding: true,
  content_type: true,
  delivery_failed: true,
  empty: true,
  event: true,
  filter: true,
  foreign_host: true,
  foreign_origin: true,
  foreign_site: true,
  internal_error: true,
  job_already_running: true,
  job_paused: true,
  job_unknown: true,
  no_form: true,
  no_verify_token: true,
  not_json: true,
  not_utf8: true,
  not_xml: true,
  queue_full: true,
  script: true,
  script_busy: true,
  store_unavailable: true,
  too_busy: true,
  too_deep: true,
  too_many_fields: true,
  unknown_sender: true,
  wrong_verify_token: true,
};

export const REASON_CODES: readonly string[] = [...Object.keys(REASON_TEXTS), ...Object.keys(OTHERS)].sort();
