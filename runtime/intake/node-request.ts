/**
 * Answers a request of another `node:http` server with the same handler and stages as the hookwright server, for programs that
 * mount the gateway in Express, Fastify or their own server. Path and headers are used as they were sent.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Logger } from '../platform/log.ts';
import { isLocal, plainAddress } from './client.ts';
import { INTAKE_PATH } from './handler.ts';
import type { HandleRequest } from './server.ts';
import { IntakeRequest } from './unverified-bodies.ts';

/**
 * A listener of `node:http`, and a middleware of Express, Connect and Fastify.
 *
 * @param request its body must be unread, because a signature covers its bytes
 * @param response nothing may be written to it yet
 * @param next called for a request that is not a webhook, and with an error if the body was read. Default: all are answered
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import type { NodeListener } from 'hookwright/runtime';
 *
 * const serve = (listener: NodeListener) => createServer((request, response) => listener(request, response));
 * ```
 */
export type NodeListener = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

interface Mounted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly next: ((error?: unknown) => void) | undefined;
  readonly log: Logger;
}

export function answerNode(handle: HandleRequest, { request, response, next, log }: Mounted): void {
  if (next !== undefined && !INTAKE_PATH.test(request.url ?? '')) {
    next();
    return;
  }
  if (request.readableDidRead) {
    const error = new Error('the request body was already read: mount hookwright before body parsers');
    if (next === undefined) {
      log.error({ err: error }, 'could not answer a request');
      response.writeHead(500).end();
    } else next(error);
    return;
  }
  // The rest of the body must not precede the next request of the connection.
  response.once('finish', () => request.resume());
  handle(new MountedRequest(request), response);
}

/** A request that reads its body from a request of another server. */
class MountedRequest extends IntakeRequest {
  private readonly source: IncomingMessage;
  private isReading = false;

  constructor(source: IncomingMessage) {
    super(new Socket());
    const { method, url, httpVersion, httpVersionMajor, httpVersionMinor, headers, rawHeaders, socket } = source;
    Object.assign(this, { method, url, httpVersion, httpVersionMajor, httpVersionMinor, headers, rawHeaders });
    this.isDirect = isLocal(plainAddress(socket.remoteAddress ?? ''));
    this.source = source;
    source.once('close', () => {
      if (!source.readableEnded) this.destroy();
    });
  }

  override _read(size: number): void {
    // There is no connection to read from, but Node.js calls `_read` again only after this call.
    super._read(size);
    if (!this.isReading) this.begin();
    this.source.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    done(error);
  }

  private begin(): void {
    this.isReading = true;
    this.source.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) this.source.pause();
    });
    this.source.once('end', () => {
      this.complete = true;
      this.push(null);
    });
  }
}
