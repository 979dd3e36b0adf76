/** All replies of the public server, with status, body and headers as in docs/http.md. */
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { TargetResult } from '../dispatch/dispatcher.ts';
import type { Clock } from '../platform/clock.ts';
import type { LinkedResponse } from '../table/linked-table.ts';
import type { HandshakeAnswer } from '../verify/handshake.ts';
import { ERRORS } from './built/errors.ts';
import type { IntakeRequest } from './unverified-bodies.ts';

const WITHOUT_ERROR = [
  'accepted',
  'coalesced',
  'delivered',
  'duplicate',
  'ignored',
  'challenge',
  'document',
  'aborted',
] as const;

/** The outcome of a request in logs and metrics: the `status` of a reply or the `code` of an error. */
export type Outcome = (typeof WITHOUT_ERROR)[number] | ErrorCode;

type ErrorCode = keyof typeof ERRORS;

/** Outcomes of an event that is accepted for an agent, a target or a job. */
export const ACCEPTED_OUTCOMES: ReadonlySet<Outcome> = new Set(['accepted', 'coalesced', 'delivered']);

/** A reply. Constant ones are built once and shared by all requests. */
export interface Reply {
  readonly status: number;
  /** Alternating names and values, with content type and length, in the form of `writeHead`. */
  readonly headers: OutgoingHttpHeader[];
  readonly body: string;
  /** The members of a JSON body. */
  readonly fields?: object;
  readonly outcome: Outcome;
}

/** The stage that ended the request as `ignored`. */
export type IgnoredReason =
  | 'empty'
  | 'event'
  | 'filter'
  | 'age'
  | 'loop'
  | 'budget'
  | 'script'
  | 'job_paused'
  | 'job_unknown';

const NO_HEADERS: readonly string[] = [];

export const OUTCOMES: readonly Outcome[] = [...WITHOUT_ERROR, ...(Object.keys(ERRORS) as ErrorCode[])];

/** A JSON reply. `more`: further alternating names and values. */
export function jsonReply(
  status: number,
  outcome: Outcome,
  fields: object,
  more: readonly string[] = NO_HEADERS,
): Reply {
  const text = JSON.stringify(fields);
  const headers: OutgoingHttpHeader[] = ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(text)];
  if (more.length > 0) headers.push(...more);
  return { status, headers, body: text, fields, outcome };
}

/** A reply of any content type, which `headers` contains. */
export function textReply(status: number, outcome: Outcome, body: string, headers: readonly string[]): Reply {
  return { status, headers: [...headers, 'Content-Length', Buffer.byteLength(body)], body, outcome };
}

/** The same outcome with the response that a route or its source sets. */
export function replyAs(reply: Reply, { status, content_type, headers }: LinkedResponse, body: string | null): Reply {
  const [code, { outcome }] = [status ?? reply.status, reply];
  if (code === 204 || code === 205)
    return { status: code, headers: code === 204 ? headers : [...headers, 'Content-Length', 0], body: '', outcome };
  if (body === null) return { ...reply, status: code, headers: [...reply.headers, ...headers] };
  return textReply(code, outcome, body, ['Content-Type', content_type, ...headers]);
}

/** The reply to a source's handshake; null if the request is not one. */
export function handshakeReply(answer: HandshakeAnswer | null): Reply | null {
  if (answer === null) return null;
  const { status, headers, body } = answer;
  if (status === 204) return { status, headers: [...headers], body, outcome: 'challenge' };
  return textReply(status, 'challenge', body, headers);
}

function errorReply(
  code: ErrorCode,
  headers: readonly string[] = [],
  more: Readonly<Record<string, unknown>> = {},
): Reply {
  const { status, text: error } = ERRORS[code];
  return jsonReply(status, code, { status: 'error', error, code, ...more }, headers);
}

/** Constant error replies. */
export const MALFORMED_BODY = errorReply('malformed_body');
export const MALFORMED_REQUEST = errorReply('malformed_request');
export const INVALID_SIGNATURE = errorReply('invalid_signature');
export const FOREIGN_ORIGIN = errorReply('foreign_origin');
export const ROUTE_DISABLED = errorReply('route_disabled');
export const UNKNOWN_ROUTE = errorReply('unknown_route');
export const REQUEST_TIMEOUT = errorReply('request_timeout');
export const PAYLOAD_TOO_LARGE = errorReply('payload_too_large');
/** For JSON sent as a form, which `curl -d` does by default. */
export const JSON_AS_FORM = errorReply('malformed_body', [], {
  error:
    'The body is JSON, but its content type is application/x-www-form-urlencoded: send it with Content-Type: application/json',
});
export const UNSUPPORTED_MEDIA_TYPE = errorReply('unsupported_media_type');
export const HEADERS_TOO_LARGE = errorReply('headers_too_large');
export const INTERNAL_ERROR = errorReply('internal_error');
export const POST_ONLY = errorReply('method_not_allowed', ['Allow', 'POST']);
export const GET_ONLY = errorReply('method_not_allowed', ['Allow', 'GET, HEAD']);

/** The sender closed the connection: only the log line is written. */
export const ABORTED: Reply = { status: 499, headers: [], body: '', outcome: 'aborted' };

/** An error reply with a `Retry-After` header, in seconds. */
export function retryLater(code: 'rate_limited' | 'overloaded' | 'shutting_down', seconds: number): Reply {
  return errorReply(code, ['Retry-After', String(seconds)]);
}

/** `results`: which of several targets succeeded; the reasons of failures are only logged. */
export function deliveryFailed(deliveryId: string, results: readonly TargetResult[]): Reply {
  return errorReply('delivery_failed', [], { delivery_id: deliveryId, ...several(results) });
}

function several(results: readonly TargetResult[]): { results?: readonly TargetResult[] } {
  return results.length > 1 ? { results } : {};
}

/** The bytes of a reply that closes its connection, for a connection without a response object. */
export function replyText({ status, headers, body }: Reply): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'Connection: close'];
  for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** The event named in a response. */
export interface Subject {
  readonly route: string;
  readonly event: string;
  readonly delivery_id: string;
}

/** @param more further members of the body @param headers alternating names and values */
export function accepted(
  { route, event, delivery_id }: Subject,
  more: Readonly<Record<string, unknown>> = {},
  status: 200 | 202 = 202,
  headers: readonly string[] = NO_HEADERS,
): Reply {
  return jsonReply(status, 'accepted', { status: 'accepted', route, event, delivery_id, ...more }, headers);
}

export function coalesced({ route, event, delivery_id }: Subject, superseded: number): Reply {
  return jsonReply(202, 'coalesced', { status: 'coalesced', route, event, delivery_id, superseded });
}

export function delivered({ route, delivery_id }: Subject, results: readonly TargetResult[]): Reply {
  const target = results.map((result) => result.target).join(',');
  return jsonReply(200, 'delivered', { status: 'delivered', route, target, delivery_id, ...several(results) });
}

export function duplicate({ route, delivery_id }: Subject): Reply {
  return jsonReply(200, 'duplicate', { status: 'duplicate', route, delivery_id });
}

export function ignored({ route, event }: Subject, reason: IgnoredReason): Reply {
  return jsonReply(200, 'ignored', { status: 'ignored', reason, route, event });
}

/** The response to a batch. @param events what each event alone would be answered, in order */
export function batchReply(outcome: Outcome, route: string, events: readonly object[]): Reply {
  const status = outcome === 'accepted' || outcome === 'coalesced' ? 202 : 200;
  return jsonReply(status, outcome, { status: outcome, route, events });
}

/** The response to a batch of which a direct delivery has failed: a retry delivers the missing events. */
export const batchFailed = (events: readonly object[]): Reply => errorReply('delivery_failed', [], { events });

/** Maximum size of an unread body, in bytes, that is discarded while its connection is kept. */
const DISCARD_BYTES = 65_536;
/**
 * Limits, in ms and bytes, for discarding a longer body before its connection is closed. Closing immediately would reset the
 * connection, and the client would lose the response: most clients send the whole body before they read.
 */
const LINGER_MS = 2000;
const LINGER_BYTES = 33_554_432;

/** Answers a request. @param close closes the connection after this response */
export function answer(
  request: IntakeRequest,
  response: ServerResponse,
  reply: Reply,
  { clock, close }: { readonly clock: Clock; readonly close: boolean },
): void {
  // The client may or may not send the body that it was not asked for, so the next bytes on this connection are ambiguous.
  if (close || request.awaitsContinue) response.shouldKeepAlive = false;
  if (!request.complete && !request.awaitsContinue && unreadBytes(request) > DISCARD_BYTES) {
    lingerThenClose(request, response, reply, clock);
  } else {
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
  }
}

/** Maximum number of bytes that the sender may still send, by its headers. */
function unreadBytes({ headers }: IntakeRequest): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
}

/** Writes the whole response at once; only the end, which closes the connection, waits for the sender. */
function lingerThenClose(request: IntakeRequest, response: ServerResponse, reply: Reply, clock: Clock): void {
  response.shouldKeepAlive = false;
  response.writeHead(reply.status, reply.headers);
  response.write(reply.body);
  let left = LINGER_BYTES;
  const end = (): void => {
    timer.cancel();
    response.end();
  };
  const timer = clock.after(LINGER_MS, end);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  request.on('end', end);
  request.on('close', end);
}
