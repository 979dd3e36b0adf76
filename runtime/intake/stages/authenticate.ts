/** The first stages: they reject a request by its head, answer handshakes, read the body, and authenticate the sender. */

import { orRefused } from '../../dispatch/dispatcher.ts';
import { printableStart } from '../../platform/log.ts';
import { isTokenCheck } from '../../verify/handshake.ts';
import { Item, itemsOf } from '../../verify/items.ts';
import { foreignPart } from '../client.ts';
import type { Intake, Stage } from '../intake.ts';
import type { BodyFormatFault } from '../parse-body.ts';
import { parseJson } from '../parse-json.ts';
import { OTHER_REASON_TEXTS } from '../reason-codes.ts';
import type { Reply } from '../reply.ts';
import {
  ABORTED,
  FOREIGN_ORIGIN,
  handshakeReply,
  INVALID_SIGNATURE,
  JSON_AS_FORM,
  MALFORMED_BODY,
  PAYLOAD_TOO_LARGE,
  POST_ONLY,
  REQUEST_TIMEOUT,
  ROUTE_DISABLED,
  retryLater,
  UNSUPPORTED_MEDIA_TYPE,
} from '../reply.ts';
import type { BodyFault } from '../unverified-bodies.ts';
import { refuse } from './decide.ts';

/** Rejects any method but POST, except those of a source's handshake. */
export const checkMethod: Stage = ({ method, route }) => {
  if (method === 'POST') return null;
  return route.handshake !== null && (method === 'GET' || method === 'HEAD') ? null : POST_ONLY;
};

/** Retry time for an overloaded process, in seconds. */
const OVERLOADED_SECONDS = 10;

/** Rejects events while the server is stopping or overloaded, and for disabled routes. */
export const checkOpen: Stage = (intake, { shutdown, overload }) => {
  if (shutdown.retryAfterSeconds !== null) return retryLater('shutting_down', shutdown.retryAfterSeconds);
  if (overload.refuses()) {
    intake.reason = 'too_busy';
    return retryLater('overloaded', OVERLOADED_SECONDS);
  }
  return intake.route.plan.enabled ? null : ROUTE_DISABLED;
};

/**
 * Rejects requests of browsers to a route without a signature. A loopback address excludes other machines, but not the web
 * pages that the operator opens. Any page can post a form, and DNS rebinding can point its host name to 127.0.0.1.
 */
export const checkOrigin: Stage = (intake) => {
  if (!intake.route.insecure) return null;
  const reason = intake.request.isDirect ? foreignPart(intake.headers) : 'unknown_sender';
  if (reason === null) return null;
  intake.reason = reason;
  return FOREIGN_ORIGIN;
};

/** Finds requests to a route whose rate window is full; takes no slot (§3.1). A few of them are read and captured. */
export const checkRate: Stage = (intake) => {
  const { route, startedAt } = intake;
  const wait = route.window.wait(route.plan.rate_limit, startedAt);
  intake.limited = wait === 0 ? null : retryLater('rate_limited', wait);
  return route.plan.capture === 'none' ? intake.limited : null;
};

/** Counts a refused request; an event that was a repeat or ignored gives its slot back. */
export function settleRate({ route, startedAt, receivedAt, hasSlot }: Intake, { outcome }: Reply): void {
  if (outcome === 'rate_limited') route.refusals.note(receivedAt);
  else if (hasSlot && (outcome === 'duplicate' || outcome === 'ignored')) route.window.give(startedAt);
}

/** Rejects a body by its declared length, before it is read. */
export const checkSize: Stage = (intake) => {
  const size = Number(intake.headers['content-length'] ?? 0);
  return size > intake.route.limits.maxBodyBytes ? tooLarge(intake, `${size} bytes`) : null;
};

function tooLarge(intake: Intake, size: string): Reply {
  intake.detail = `the body has ${size}; \`max_body_bytes\` is ${intake.route.limits.maxBodyBytes}`;
  return PAYLOAD_TOO_LARGE;
}

/**
 * Rejects a request that cannot be authentic whatever its body is, before it takes memory and time: it has no signature, or one
 * of an impossible form. The signature stage checks the others. A body that arrives with the head is kept, so that the cause of
 * a rejected signature can be found.
 */
export const checkCredential: Stage = (intake, { bodies }) => {
  const { authenticator, awaitsSecret } = intake.route;
  const refused = authenticator.refuseByHead(intake, intake.receivedAt);
  if (refused === null || awaitsSecret?.(intake) === true) return null;
  intake.scheme = refused.scheme ?? '';
  intake.reason = refused.reason;
  if (refused.reason !== 'malformed_signature') return INVALID_SIGNATURE;
  return bodies.readArrived(intake.request, intake.route.limits.maxBodyBytes).then((body) => {
    intake.body = body ?? intake.body;
    return INVALID_SIGNATURE;
  });
};

const answerer =
  (signed: boolean): Stage =>
  (intake) =>
    handshakeReply(intake.route.handshake?.(intake, signed) ?? null);

/** Answers a handshake that is not signed. */
export const answerHandshake = answerer(false);

/** Answers a handshake of a source that is signed like an event. */
export const answerChallenge = answerer(true);

/** Answers a handshake sent with GET or HEAD, which has no signature; a body is ignored. */
export const answerProbe: Stage = (intake) => {
  if (intake.method === 'POST') return null;
  const { route } = intake;
  const reply = handshakeReply(route.handshake?.(intake, false) ?? null);
  if (reply !== null) return reply;
  if (isTokenCheck(route.authenticator.schemes, intake)) {
    intake.reason = route.plan.verify_token === null ? 'no_verify_token' : 'wrong_verify_token';
    intake.detail = OTHER_REASON_TEXTS[intake.reason];
  }
  return POST_ONLY;
};

/** Retry time in seconds: by then, stalled bodies have been dropped and their memory is free. */
const FULL_SECONDS = 5;

const REPLIES: Readonly<Record<BodyFault, Reply>> = {
  too_large: PAYLOAD_TOO_LARGE,
  overloaded: retryLater('overloaded', FULL_SECONDS),
  too_slow: REQUEST_TIMEOUT,
  aborted: ABORTED,
};

/** Reads the body. */
export const receiveBody: Stage = async (intake, { bodies }) => {
  // Here, because a request that is not authentic whatever its body is must not use up the few.
  if (intake.limited !== null && !intake.route.refusals.mayRead(intake.startedAt)) return intake.limited;
  if (intake.request.awaitsContinue) {
    intake.request.awaitsContinue = false;
    intake.response.writeContinue();
  }
  const body = await bodies.read(intake.request, intake.route.limits.maxBodyBytes);
  if (typeof body === 'string') {
    if (body === 'overloaded' || body === 'too_slow') intake.reason = `body_${body}`;
    return body === 'too_large' ? tooLarge(intake, 'more bytes') : REPLIES[body];
  }
  intake.body = body;
  return null;
};

/** Parses the body into the payload: JSON, a form, or the format of the route's source. */
export const parsePayload: Stage = (intake) => {
  const { payload, fault } = intake.parse();
  const decoded = intake.decoded();
  intake.isPlain = typeof decoded !== 'string';
  if (typeof decoded !== 'string') intake.body = decoded;
  intake.data = payload;
  if (fault === null) return splitBatch(intake);
  intake.reason = fault;
  if (fault === 'no_form' && parseJson(intake.body).ok) {
    intake.detail = `the body is JSON, but its content type is ${typeOf(intake)}: the sender must use Content-Type: application/json`;
    return JSON_AS_FORM;
  }
  if (fault === 'content_type' || fault === 'charset') intake.detail = `the content type is ${typeOf(intake)}`;
  if (fault === 'decoded_too_large') return tooLarge(intake, `${intake.body.length} bytes before it is decoded`);
  return UNSUPPORTED.has(fault) ? UNSUPPORTED_MEDIA_TYPE : MALFORMED_BODY;
};

const UNSUPPORTED: ReadonlySet<BodyFormatFault> = new Set(['content_type', 'content_encoding', 'charset']);

/** Finds the items of a batch, if the source of the route sends batches. */
function splitBatch(intake: Intake): Reply | null {
  const { batch } = intake.route;
  if (batch === null) return null;
  const items = itemsOf(intake.data, batch.lists, batch.most);
  if (items !== 'too_many') {
    intake.items = items;
    // Without a list, the body is an item itself, and its own root.
    if (items === null) intake.give(intake.body, new Item(intake.data, intake.data, undefined), intake.form());
    return null;
  }
  intake.reason = 'batch_too_large';
  intake.detail = `more than ${batch.most} items (\`max_batch\`)`;
  return PAYLOAD_TOO_LARGE;
}

/** Maximum length of a content type that is shown, in UTF-16 units. */
const TYPE_LIMIT = 128;

const typeOf = ({ headers }: Intake): string => printableStart(headers['content-type'] ?? 'missing', TYPE_LIMIT);

/** Verifies the signature. */
export const verifySignature: Stage = (intake, { bodies, connections, overload, warnDeprecated }) => {
  const { route } = intake;
  const verification = route.authenticator.authenticate(intake, intake.receivedAt);
  intake.scheme = verification.scheme ?? '';
  if (!verification.ok) {
    intake.reason = verification.reason;
    return INVALID_SIGNATURE;
  }
  bodies.release(intake.request);
  connections.verify(intake.request);
  overload.verify();
  intake.authenticated = true;
  intake.secret = verification.secret;
  if (route.deprecated.size > 0) warnDeprecated(route, verification.scheme);
  return null;
};

/** Takes a slot of the route's rate window once the sender is verified, so that outsiders cannot use up its quota. */
export const consumeRate: Stage = (intake) => {
  const { route, startedAt, limited: refused } = intake;
  if (refused !== null) return refused;
  // A concurrent request may have taken the last slot after the check.
  const wait = route.window.take(route.plan.rate_limit, startedAt);
  return typeof wait === 'number' ? limited(intake, wait) : takeShared(intake, wait);
};

function limited(intake: Intake, wait: number): Reply | null {
  intake.hasSlot = wait === 0;
  return intake.hasSlot ? null : retryLater('rate_limited', wait);
}

/** Rejects the event if the store is unavailable, because the number of free slots is then unknown. */
async function takeShared(intake: Intake, waiting: Promise<number>): Promise<Reply | null> {
  const wait = await orRefused(waiting);
  return typeof wait === 'number' ? limited(intake, wait) : refuse(intake, wait);
}
