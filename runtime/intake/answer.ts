/** Writes a reply, for the server, so that a sender that is still sending can read a refusal. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../platform/clock.ts';
import type { IntakeRequest } from './body.ts';
import type { Reply } from './reply.ts';

/** An unread body up to this size is dropped and its connection kept, in bytes. */
const DISCARD_BYTES = 65_536;
/**
 * How long, in ms, and how far, in bytes, a longer one is dropped before its connection is closed. Closing at once would
 * reset it, and the reset can overtake the answer: most clients send all of a body before they read.
 */
const LINGER_MS = 2000;
const LINGER_BYTES = 33_554_432;

/** Answers a request. `close`: the connection ends with this answer. */
export function answer(
  request: IntakeRequest,
  response: ServerResponse,
  reply: Reply,
  { clock, close }: { readonly clock: Clock; readonly close: boolean },
): void {
  // The client may send a body it was not asked for, or not: the next bytes on this connection are ambiguous.
  if (close || request.awaitsContinue) response.shouldKeepAlive = false;
  if (!request.complete && !request.awaitsContinue && unreadBytes(request) > DISCARD_BYTES) {
    lingerThenClose(request, response, reply, clock);
  } else {
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
  }
}

/** The most that the sender still has to send, as far as it has declared. */
function unreadBytes({ headers }: IntakeRequest): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
}

/** The whole answer leaves at once; only its end, which closes the connection, waits for the sender. */
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
