/** All reason codes. Stages store them in the intake, and captured requests can be searched by them. */
import type { Refusal } from '../dispatch/dispatcher.ts';
import type { VerifyReason } from '../verify/verification.ts';
import { REASON_TEXTS } from '../verify/verification.ts';
import type { BodyFormatFault } from './parse-body.ts';
import type { IgnoredReason } from './reply.ts';

export type ReasonCode = VerifyReason | OtherReason;

/** Reason codes other than the verifier's. */
export type OtherReason = keyof typeof OTHER_REASON_TEXTS;

/** Reason codes defined in other files. */
type SharedReason = IgnoredReason | BodyFormatFault | Extract<Refusal, { readonly kind: 'overloaded' }>['reason'];

/** Texts for operators. */
export const OTHER_REASON_TEXTS = {
  age: 'the event is older than `max_age_seconds` of the route',
  bad_encoding: 'the body is not in its content encoding: it is cut off, damaged, or followed by other bytes',
  batch_too_large: 'the batch has more items or longer prompts than this server accepts',
  body_overloaded: 'unverified requests use all of their memory or connections',
  body_too_slow: 'the body arrived more slowly than `min_body_rate`',
  budget: 'a budget of the route, its agent, its job or the gateway is used up',
  commit_in_doubt: 'it is unknown whether the event was stored',
  charset: 'the charset of the content type is unknown',
  content_encoding: 'the content encoding is not one of gzip, deflate and br',
  content_type: 'the content type is neither JSON nor a form',
  decoded_too_large: 'the decoded body exceeds `max_body_bytes`, or 200 times its transmitted size',
  delivery_failed: 'the target rejected the message, or did not respond in time',
  empty: 'the body, or the batch in it, is empty',
  event: 'the route does not accept the event type',
  filter: 'a filter of the route does not match',
  foreign_client: 'a proxy forwarded the request for another machine',
  foreign_host: 'the request is addressed to another host',
  foreign_origin: 'a web page of another origin sent it',
  foreign_site: 'a web page of another site sent the request',
  internal_error: 'internal error of the gateway; see its log',
  job_already_running: 'the last run of the job of the route is not finished',
  job_paused: 'the job of the route is paused',
  job_unknown: 'the route names a job that does not exist',
  loop: 'a hookwright gateway caused the event, or its key had more runs than `loop_limit`',
  no_form: 'the body is not a form',
  no_verify_token: 'the sender checks the URL with a token, and the route has no `verify_token`',
  not_json: 'the body is not JSON',
  not_utf8: 'the body is not text in its charset (UTF-8 if it declares none)',
  not_xml: 'the body is not XML',
  queue_full: '`gateway.max_queued_runs` runs wait',
  route_paused: 'the route is paused and cannot hold the event, because its sender waits for the delivery',
  script: 'the script of the route ended the event',
  script_busy: 'the machine cannot start another program, or has no sandbox for it',
  store_unavailable: 'the store rejects changes',
  too_busy: 'this process is overloaded',
  too_deep: 'the body has too many levels',
  too_many_fields: 'the form has too many fields',
  unknown_sender: 'the route verifies no signature, and the address of the sender is unknown',
  wrong_verify_token: 'the sender checks the URL with another token than `verify_token` of the route',
} as const satisfies Record<SharedReason, string> & Record<string, string>;

export const REASON_CODES: readonly string[] = [
  ...Object.keys(REASON_TEXTS),
  ...Object.keys(OTHER_REASON_TEXTS),
].sort();
