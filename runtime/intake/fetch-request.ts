/**
 * Answers a fetch `Request` as the server answers one that came over a connection: for programs that mount the gateway in a
 * server of their own. It passes the same handler and the same stages.
 */
import { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { IntakeRequest } from './body.ts';
import { isLocal, plainAddress } from './client-address.ts';
import type { HandleRequest } from './server.ts';

export interface RequestOrigin {
  /** Address of the peer that sent it, where the server around it knows. A route without a signature takes only local ones. */
  readonly address?: string | undefined;
}

/**
 * Rejects as `fetch` does when the sender goes away: with the reason of the request's signal, or the error of its body.
 * Every other request gets a response.
 */
export function answerFetch(handle: HandleRequest, request: Request, { address }: RequestOrigin): Promise<Response> {
  return new Promise((resolve, reject) => {
    const incoming = new FetchedRequest(request, address !== undefined && isLocal(plainAddress(address)));
    incoming.once('error', reject);
    if (request.signal.aborted) {
      reject(request.signal.reason);
      return;
    }
    const abort = (): void => void incoming.destroy(request.signal.reason);
    request.signal.addEventListener('abort', abort, { once: true });
    const respond = (response: Response): void => {
      request.signal.removeEventListener('abort', abort);
      // What is unread stays unread.
      incoming
        .off('error', reject)
        .on('error', () => {})
        .destroy();
      resolve(response);
    };
    handle(incoming, new FetchedResponse(incoming, respond));
  });
}

/** Node.js' own kind of request, whose body is read from the fetch request. */
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
    // Its end is known to come: there is no connection on which the next request could follow.
    this.complete = true;
  }

  override _read(size: number): void {
    // There is no connection to read from, but Node.js asks for more only after this call.
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
    // Values of one name come joined, but for cookies.
    const known = this.headers[name];
    this.headers[name] = typeof known === 'string' ? `${known}; ${value}` : value;
  }
}

/** Takes what answer.ts writes, in place of a connection. */
class FetchedResponse extends ServerResponse<IntakeRequest> {
  private readonly respond: (response: Response) => void;
  private head: { readonly status: number; readonly headers: Headers } = { status: 500, headers: new Headers() };

  constructor(request: IntakeRequest, respond: (response: Response) => void) {
    super(request);
    this.respond = respond;
  }

  /** @param flat names and values in turn */
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

  /** A fault of this program prevented the response. */
  override destroy(): this {
    this.respond(new Response(null, { status: 500 }));
    return this;
  }

  override writeContinue(): void {}
}
