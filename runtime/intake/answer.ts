/** Writes a reply so that a sender that is still sending its body can read it. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../platform/clock.ts';
import type { IntakeRequest } from './body.ts';
import type { Reply } from './reply.ts';

/** Largest unread body, in bytes, that is discarded while its connection is kept. */
const DISCARD_BYTES = 65_536;
/**
 * Limits, in ms and bytes, for discarding a longer body before its connection is closed. Closing at once would reset the
 * connection, and the client would lose the answer: most clients send the whole body before they read.
 */
const LINGER_MS = 2000;
const LINGER_BYTES = 33_554_432;

/** Answers a request. @param close the connection ends with this answer */
export function answer(
  request: IntakeRequest,
  response: ServerResponse,
  reply: Reply,
  { clock, close }: { readonly clock: Clock; readonly close: boolean },
): void {
  // The client may or may not send the body that it was not asked for: the next bytes on this connection are ambiguous.
  if (close || request.awaitsContinue) response.shouldKeepAlive = false;
  if (!request.complete && !request.awaitsContinue && unreadBytes(request) > DISCARD_BYTES) {
    lingerThenClose(request, response, reply, clock);
  } else {
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
  }
}

/** Most bytes that the sender may still send, by its headers. */
function unreadBytes({ headers }: IntakeRequest): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
}

/** Writes the whole answer at once; only the end, which closes the connection, waits for the sender. */
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
