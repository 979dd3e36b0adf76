/** An HTTP server on 127.0.0.1 for tests: responds as configured and records its requests. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';

export interface SeenRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
}

export interface FakeAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: unknown;
}

/** `drop`: the connection is cut after the request was read. A function writes the response itself. */
export type Answer = FakeAnswer | 'drop' | ((response: ServerResponse) => void);

export interface FakeServer {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly SeenRequest[];
  close(): Promise<void>;
}

export type Answering = (request: SeenRequest, index: number) => Answer;

export async function startFakeHttp(t: Pick<TestContext, 'after'>, answer: Answering): Promise<FakeServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = request.url ?? '';
      const at = url.indexOf('?');
      const body = Buffer.concat(chunks).toString('utf8');
      const one: SeenRequest = {
        method: request.method ?? '',
        url,
        path: at === -1 ? url : url.slice(0, at),
        query: new URLSearchParams(at === -1 ? '' : url.slice(at + 1)),
        headers: request.headers,
        body,
        json: parseJson(body),
      };
      seen.push(one);
      const answered = answer(one, seen.length - 1);
      if (answered === 'drop') request.socket.destroy();
      else if (typeof answered === 'function') answered(response);
      else write(response, answered);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEnd(t, close);
  return { url: `http://127.0.0.1:${port}`, port, seen, close };
}

function write(response: ServerResponse, { status = 200, headers = {}, body = '' }: FakeAnswer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(text);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
