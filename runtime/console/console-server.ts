/**
 * The second listener, for supervisors and collectors: `/livez`, `/readyz` and `/metrics`. Its port is never the public
 * one. If a token is set, clients without it learn only from the status codes whether the gateway is live and ready.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { messageOf } from '../../base/message-of.ts';
import type { ListenAddress } from '../intake/server.ts';
import { listenOn, urlOf } from '../intake/server.ts';
import type { Logger } from '../platform/log.ts';

/** Limits for few clients that send no bodies. */
const MAX_CONNECTIONS = 64;
const REQUEST_MS = 5000;

export interface ReadinessProblem {
  readonly part: 'gateway' | 'store' | 'table' | 'subscriptions';
  /** True: events are answered with 503. False: the gateway serves, with the previous table or subscriptions. */
  readonly blocking: boolean;
  readonly message: string;
}

/** What `/readyz` answers. */
export interface Readiness {
  readonly ready: boolean;
  readonly problems: readonly ReadinessProblem[];
}

export interface ConsoleContext {
  /** Null: any client may read everything. */
  readonly token: string | null;
  readonly readiness: () => Readiness;
  /** Prometheus text. Rejects when the store cannot be read. */
  readonly metrics: () => Promise<{ readonly content_type: string; readonly text: string }>;
  readonly log: Logger;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Page = (context: ConsoleContext, trusted: boolean) => Answer | Promise<Answer>;

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';

const text = (status: number, body: string, headers: Answer['headers'] = {}): Answer => ({
  ...{ status, type: TEXT, text: `${body}\n`, headers },
});

const PAGES: Readonly<Record<string, Page>> = {
  '/livez': () => text(200, 'ok'),
  '/readyz': ({ readiness }, trusted) => {
    const { ready, problems } = readiness();
    const body = JSON.stringify(trusted ? { ready, problems } : { ready });
    return { status: ready ? 200 : 503, type: JSON_TYPE, text: `${body}\n` };
  },
  '/metrics': async ({ metrics }, trusted) => {
    if (!trusted) return text(401, 'the token of gateway.console is missing', { 'www-authenticate': 'Bearer' });
    const { content_type, text: body } = await metrics();
    return { status: 200, type: content_type, text: body };
  },
};

export class ConsoleServer {
  private readonly context: ConsoleContext;
  private readonly server: Server;

  constructor(context: ConsoleContext) {
    this.context = context;
    this.server = createServer({ headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS }, (request, response) => {
      void this.serve(request, response);
    });
    this.server.maxConnections = MAX_CONNECTIONS;
  }

  /** Listens and resolves to its URL. Rejects with ListenError when the address cannot be bound. */
  async listen({ host, port }: ListenAddress): Promise<string> {
    return urlOf(await listenOn(this.server, host, port));
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.answer(request).catch((error: unknown) => {
      this.context.log.warn({ reason: messageOf(error) }, 'the console cannot answer');
      return text(503, 'not available now: the log says why');
    });
    response.writeHead(answer.status, {
      'content-type': answer.type,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...answer.headers,
    });
    response.end(request.method === 'HEAD' ? undefined : answer.text);
  }

  private async answer(request: IncomingMessage): Promise<Answer> {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const page = Object.hasOwn(PAGES, path) ? PAGES[path] : undefined;
    if (page === undefined) return text(404, `there are ${Object.keys(PAGES).join(', ')}`);
    if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'GET only', { allow: 'GET, HEAD' });
    return page(this.context, this.isTrusted(request.headers.authorization));
  }

  private isTrusted(authorization = ''): boolean {
    const { token } = this.context;
    return token === null || timingSafeEqual(sha256(authorization), sha256(`Bearer ${token}`));
  }
}

const sha256 = (value: string): Buffer => createHash('sha256').update(value).digest();
