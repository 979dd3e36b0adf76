/** What to do about a request that was not accepted: a text for each reason, with the command that helps. */
import type { KeptRequest } from '../../../../runtime/intake/kept-request.ts';
import type { OtherReason } from '../../../../runtime/intake/reason-codes.ts';
import type { Outcome } from '../../../../runtime/intake/reply.ts';
import type { FoundCause } from '../../../../runtime/verify/find-cause.ts';
import type { VerifyReason } from '../../../../runtime/verify/verification.ts';
import type { KeptReason } from '../../../../schemas/generated/types.ts';

/** A kept request, and whether its route is a subscription: then a command shows its secret. */
export interface AskedRequest extends KeptRequest {
  readonly isSubscription: boolean;
}

type Step = (request: AskedRequest) => string;

const explain: Step = ({ route, id }) => `see what each filter found: hookwright explain ${route} --request ${id}`;
const sendGood: Step = ({ route }) => `\`hookwright webhook test ${route}\` sends a good one`;
const newSecret: Step = (request) =>
  `enter the secret of the route at the sender again: ${whereSecretIs(request)}; ${sendGood(request)}`;
const whereSecretIs: Step = ({ route, isSubscription }) =>
  isSubscription
    ? `\`hookwright webhook show ${route} --reveal\` shows it`
    : `\`secret\` of route ${route}, else the one for all routes, says where it is`;
const signAsSource: Step = (request) =>
  `let the sender sign as docs/sources.md says of its source, or describe one of your own: docs/own-sources.md; ${sendGood(request)}`;
const writeTime: Step = () => 'let the sender write the timestamp as the source does: docs/sources.md';
const clocks: Step = () => 'compare the clocks of the sender and of this machine: hookwright doctor';
const passBody: Step = () => 'let the proxy in front pass the body on byte by byte';
const passHeaders: Step = () => 'let the proxy in front pass the headers on as they come, each once';
const publicUrl: Step = ({ route }) =>
  `set \`public_url\` of route ${route} to the URL that the sender has, letter by letter`;

/** By reason of the verifier. */
const VERDICTS: Readonly<Record<VerifyReason, Step>> = {
  missing_signature: (request) =>
    `set the secret at the sender, or let the proxy pass its header on; ${sendGood(request)}`,
  missing_credential: (request) =>
    `set the token at the sender, or let the proxy pass its header on; ${sendGood(request)}`,
  malformed_signature: signAsSource,
  unknown_version: signAsSource,
  stronger_scheme: passHeaders,
  repeated_header: passHeaders,
  oversized_header: passHeaders,
  too_many_parts: passHeaders,
  missing_timestamp: passHeaders,
  ambiguous_timestamp: passHeaders,
  bad_timestamp: writeTime,
  stale_timestamp: () =>
    'compare the clocks of the sender and of this machine (hookwright doctor); one that was delayed or copied is refused by intent',
  future_timestamp: clocks,
  missing_id: passHeaders,
  unreadable_body: passBody,
  mismatch: newSecret,
  body_mismatch: passBody,
  unusable_secret: ({ route }) => `enter a secret of the form that the source wants in route ${route}`,
  no_public_url: publicUrl,
};

/** `set \`source: linear\``, where the headers say which. */
function sourceLine(about: KeptReason | null): string {
  const names = about?.kind === 'signature' ? about.other_sources : [];
  if (names.length === 0) return 'set `source:` (hookwright source list)';
  return `set ${names.map((name) => `\`source: ${name}\``).join(' or ')}`;
}

/** By the cause found when the signature was analysed. */
const FOUND: Readonly<Record<FoundCause, Step>> = {
  other_scheme: ({ route, about }) =>
    `${sourceLine(about)} in route ${route} if that is the sender, or give this sender a route of its own`,
  old_secret: ({ route }) =>
    `the sender still signs with the previous secret: give it the new one, or accept both for longer with \`secrets\` of route ${route}`,
  misplaced_secret: ({ route }) =>
    `let the sender put it where \`source:\` of route ${route} has it, or describe the sender with \`verify: token\`: docs/own-sources.md`,
  timestamp_unit: writeTime,
  line_break: passBody,
  byte_order_mark: passBody,
  line_endings: passBody,
  body_rewritten: () => 'let the proxy in front pass the body on byte by byte: it parses JSON and writes it again',
  form_payload: () => 'choose the content type application/json at the sender',
  secret_whitespace: () => 'remove the space or line break around the secret, here or at the sender',
  secret_form: ({ route }) =>
    `enter the secret in the form that the sender uses (base64, hex or text) in route ${route}`,
  encoding: signAsSource,
  prefix: signAsSource,
  hash_function: signAsSource,
  signed_content: signAsSource,
  public_url: publicUrl,
  unknown: newSecret,
};

/** By reason of other refusals; null: the outcome says what to do. */
const REASONS: Readonly<Record<OtherReason, Step | null>> = {
  no_verify_token: ({ route }) =>
    `the sender checks the URL with a token: set \`verify_token\` of route ${route} to the word that is entered there`,
  wrong_verify_token: ({ route }) =>
    `the sender checks the URL with another token: enter the one of \`verify_token\` of route ${route} there`,
  event: ({ route, event }) => `to take it, add \`${event}\` to \`events\` of route ${route}`,
  filter: explain,
  age: ({ route }) => `the sender was late: raise \`max_age_seconds\` of route ${route} to take such events`,
  script: ({ route, id }) => `run the script again: hookwright explain ${route} --request ${id} --run-script`,
  job_paused: () => 'hookwright job list shows it, hookwright job resume lets it fire again',
  job_unknown: () => 'hookwright job list shows the jobs there are',
  script_busy: () => 'the machine could not start another program: look at its memory and processes',
  foreign_origin: () => 'a web page sent it: give the route a secret where that is meant',
  foreign_host: () => 'it was meant for another host: give the route a secret where that is meant',
  foreign_site: () => 'a web page sent it: give the route a secret where that is meant',
  content_type: () => 'let the sender send application/json or a form',
  content_encoding: () => 'let the sender send the body without a content encoding',
  delivery_failed: ({ dispatch_id }) =>
    dispatch_id === null ? 'hookwright doctor checks the target' : `hookwright deliveries show ${dispatch_id}`,
  body_overloaded: null,
  body_too_slow: null,
  commit_in_doubt: null,
  empty: null,
  internal_error: null,
  job_already_running: null,
  no_form: null,
  not_json: null,
  not_utf8: null,
  not_xml: null,
  queue_full: null,
  store_unavailable: null,
  too_busy: null,
  too_deep: null,
  too_many_fields: null,
  unknown_sender: null,
};

/** By outcome; null: the reason says what to do, or there is nothing to do. */
const OUTCOMES: Readonly<Record<Outcome, Step | null>> = {
  duplicate: ({ delivery_id }) =>
    `an event with the id ${delivery_id} was taken before; hookwright requests list --grep shows it`,
  rate_limited: ({ route }) => `raise \`rate_limit\` of route ${route} where the sender is to be trusted with more`,
  payload_too_large: () => 'raise `max_body_bytes`, or let the sender send less',
  malformed_body: () => 'the body is not JSON in UTF-8: look at what the sender makes of it',
  route_disabled: ({ route }) => `enable it: \`enabled\` of route ${route}, or hookwright webhook enable ${route}`,
  method_not_allowed: () => 'let the sender use POST',
  request_timeout: () => 'the sender was too slow: `min_body_rate` says how slow one may be',
  overloaded: () => 'hookwright gateway status shows what the machine is busy with',
  shutting_down: () => 'the sender tries again; hookwright requests replay sends it now where its body was kept',
  internal_error: () => 'the log has the error; please report it',
  accepted: null,
  coalesced: null,
  delivered: null,
  ignored: null,
  challenge: null,
  document: null,
  aborted: null,
  malformed_request: null,
  invalid_signature: null,
  foreign_origin: null,
  unknown_route: null,
  unsupported_media_type: null,
  headers_too_large: null,
  delivery_failed: null,
};

/** Codes of causes; docs/why-ignored.md explains each. */
export const CAUSES: Readonly<Record<string, Step>> = { ...VERDICTS, ...FOUND };

/** Null if nothing has to be done. */
export function nextStep(request: AskedRequest): string | null {
  const { cause, reason, outcome, dispatch_id } = request;
  if (cause !== null) return (CAUSES[cause.code] ?? newSecret)(request);
  const step = (isOtherReason(reason) ? REASONS[reason] : null) ?? OUTCOMES[outcome] ?? null;
  if (step !== null) return step(request);
  if (dispatch_id !== null) return `what became of it: hookwright deliveries show ${dispatch_id}`;
  return null;
}

function isOtherReason(reason: string | null): reason is OtherReason {
  return reason !== null && Object.hasOwn(REASONS, reason);
}
