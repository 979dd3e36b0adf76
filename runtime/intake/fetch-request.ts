/**
 * Answers a fetch `Request` with the same handler and stages as a request over a connection, for programs that mount the
 * gateway in their own server.
 */
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { isLocal, plainAddress } from './client.ts';
import type { HandleRequest } from './server.ts';
import { IntakeRequest } from './unverified-bodies.ts';

/**
 * The origin of a request that another server received.
 *
 * @example
 * ```ts
 * import type { RequestOrigin, Service } from 'hookwright/runtime';
 *
 * const from: RequestOrigin = { address: '127.0.0.1' };
 * const answer = (service: Service, request: Request): Promise<Response> => service.handle(request, from);
 * ```
 */
export interface RequestOrigin {
  /** IP address of the peer. A route without a signature accepts only local peers. Default: not local. */
  readonly address?: string | undefined;
  /** The person who sends it, for the history of the event, such as `console:ann`. Default: no person. */
  readonly by?: string | undefined;
}

/**
 * Resolves to the response. Rejects, as `fetch` does, only when the sender disconnects: with the reason of the request's
 * signal, or the error of its body.
 */
export function answerFetch(
  handle: HandleRequest,
  request: Request,
  { address, by }: RequestOrigin,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const incoming = new FetchedRequest(request, address !== undefined && isLocal(plainAddress(address)));
    incoming.by = by;
    incoming.once('error', reject);
    if (request.signal.aborted) {
      reject(request.signal.reason);
      return;
    }
    const abort = (): void => void incoming.destroy(request.signal.reason);
    request.signal.addEventListener('abort', abort, { once: true });
    const respond = (response: Response): void => {
      request.signal.removeEventListener('abort', abort);
      // The rest of the body is not read.
      incoming
        .off('error', reject)
        .on('error', () => {})
        .destroy();
      resolve(response);
    };
    handle(incoming, new FetchedResponse(incoming, respond));
  });
}

/** A Node.js request whose body is read from the fetch request. */
class FetchedRequest extends IntakeRequest {
  private readonly chunks: ReadableStreamDefaultReader<Uint8Array> | null;

  constructor(request: Request, isDirect: boolean) {
    super(new Socket());
    const { pathname, search, host } = new URL(request.url);
    this.isDirect = isDirect;
    this.method = request.method;
    this.url = pathname + search;
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    for (const [name, value] of request.headers) this.addHeader(name, value);
    if (!request.headers.has('host')) this.addHeader('host', host);
    this.chunks = request.body?.getReader() ?? null;
    // No other request can follow on a connection, so the rest of the body need not be discarded.
    this.complete = true;
  }

  override _read(size: number): void {
    // There is no connection to read from, but Node.js calls `_read` again only after this call.
    super._read(size);
    if (this.chunks === null) {
      this.push(null);
      return;
    }
    this.chunks.read().then(
      ({ done, value }) => this.push(done ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength)),
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    void this.chunks?.cancel(error).catch(() => {});
    done(error);
  }

  private addHeader(name: string, value: string): void {
    this.rawHeaders.push(name, value);
    // Repeated values are already joined, except cookies.
    const known = this.headers[name];
    this.headers[name] = typeof known === 'string' ? `${known}; ${value}` : value;
  }
}

/** A Node.js response that collects what reply.ts writes into a fetch `Response`. */
class FetchedResponse extends ServerResponse<IntakeRequest> {
  private readonly respond: (response: Response) => void;
  private head: { readonly status: number; readonly headers: Headers } = { status: 500, headers: new Headers() };

  constructor(request: IntakeRequest, respond: (response: Response) => void) {
    super(request);
    this.respond = respond;
  }

  /** @param flat alternating names and values */
  override writeHead(status: number, flat?: unknown): this {
    const headers = new Headers();
    const list = Array.isArray(flat) ? (flat as readonly unknown[]) : [];
    for (let at = 0; at < list.length; at += 2) headers.append(String(list[at]), String(list[at + 1]));
    this.head = { status, headers };
    return this;
  }

  override end(body?: unknown): this {
    const isEmpty = this.req.method === 'HEAD' || this.head.status === 204 || this.head.status === 304;
    this.respond(new Response(isEmpty ? null : String(body ?? ''), this.head));
    return this;
  }

  /** Called after an internal error. */
  override destroy(): this {
    this.respond(new Response(null, { status: 500 }));
    return this;
  }

  override writeContinue(): void {}
}
