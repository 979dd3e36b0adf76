/** All reason codes: stages store them in the intake, and kept requests can be searched by them. */
import type { Refusal } from '../dispatch/dispatcher.ts';
import type { VerifyReason } from '../verify/verification.ts';
import { REASON_TEXTS } from '../verify/verification.ts';
import type { BodyFormatFault } from './parse-body.ts';
import type { IgnoredReason } from './reply.ts';

export type ReasonCode = VerifyReason | OtherReason;

/** The reasons that are not the verifier's. */
export type OtherReason = keyof typeof OTHER_REASON_TEXTS;

/** The reasons that other parts define. */
type SharedReason = IgnoredReason | BodyFormatFault | Extract<Refusal, { readonly kind: 'overloaded' }>['reason'];

/** In words, for operators. */
export const OTHER_REASON_TEXTS = {
  age: 'the event is older than `max_age_seconds` of the route',
  body_overloaded: 'unverified requests use all the memory or all the connections that they may',
  body_too_slow: 'the body arrived more slowly than `min_body_rate`',
  budget: 'a budget of the route, its agent, its job or the gateway is used up',
  commit_in_doubt: 'it is not known whether the event was stored',
  content_encoding: 'the body has a content encoding',
  content_type: 'the content type is neither JSON nor a form',
  delivery_failed: 'the target refused the message, or gave no answer in time',
  empty: 'the body is empty',
  event: 'the route does not accept the event type',
  filter: 'a filter of the route does not match',
  foreign_host: 'the request is meant for another host',
  foreign_origin: 'a web page of another origin sent it',
  foreign_site: 'a web page of another site sent it',
  internal_error: 'an error of the gateway; the log has it',
  job_already_running: 'the job of the route has not finished its last run',
  job_paused: 'the job of the route is paused',
  job_unknown: 'the route names a job that does not exist',
  loop: 'a hookwright has caused the event, or its key has had more runs than `loop_limit`',
  no_form: 'the body is not a form',
  no_verify_token: 'the sender checks the URL with a token, and the route has no `verify_token`',
  not_json: 'the body is not JSON',
  not_utf8: 'the body is not UTF-8',
  not_xml: 'the body is not XML',
  queue_full: '`gateway.max_queued_runs` runs wait',
  route_paused: 'the route is paused, and cannot hold the event: its sender waits for the delivery',
  script: 'the script of the route ended the event',
  script_busy: 'the machine cannot start another program, or has no sandbox for it',
  store_unavailable: 'the store accepts no changes',
  too_busy: 'more arrives than this process can take',
  too_deep: 'the body has too many levels',
  too_many_fields: 'the form has too many fields',
  unknown_sender: 'the route verifies nothing, and the address of the sender is not known',
  wrong_verify_token: 'the sender checks the URL with another token than `verify_token` of the route',
} as const satisfies Record<SharedReason, string> & Record<string, string>;

export const REASON_CODES: readonly string[] = [
  ...Object.keys(REASON_TEXTS),
  ...Object.keys(OTHER_REASON_TEXTS),
].sort();
