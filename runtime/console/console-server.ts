/**
 * The second listener, for supervisors and collectors: `/livez`, `/readyz` and `/metrics`. Its port is never the public
 * one. If a token is set, clients without it learn only from the status codes whether the gateway is live and ready. Without
 * one, `/metrics` and the reasons are for this machine only, and not for web pages. The bounds are those of the public server.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { messageOf } from '../../base/message-of.ts';
import type { IntakeRequest } from '../intake/body.ts';
import type { Connections } from '../intake/connections.ts';
import { foreignPart, hasOneHost } from '../intake/origin.ts';
import type { ListenAddress } from '../intake/server.ts';
import { BoundedServer, LOCAL_LIMITS, urlOf } from '../intake/server.ts';
import type { Logger } from '../platform/log.ts';

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
  /** Null: any program on this machine may read everything. */
  readonly token: string | null;
  readonly readiness: () => Readiness;
  /** Prometheus text. Rejects when the store cannot be read. */
  readonly metrics: () => Promise<{ readonly content_type: string; readonly text: string }>;
  readonly connections: Connections;
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
  '/metrics': async ({ metrics, token }, trusted) => {
    if (!trusted && token === null)
      return text(403, 'without a token, the console answers no web page and no other host');
    if (!trusted) return text(401, 'the token of gateway.console is missing', { 'www-authenticate': 'Bearer' });
    const { content_type, text: body } = await metrics();
    return { status: 200, type: content_type, text: body };
  },
};

export class ConsoleServer {
  private readonly context: ConsoleContext;
  private readonly server: BoundedServer;

  constructor(context: ConsoleContext) {
    this.context = context;
    const serve = (request: IntakeRequest, response: ServerResponse): void => void this.serve(request, response);
    this.server = new BoundedServer(serve, LOCAL_LIMITS, context.connections);
  }

  /** Listens and resolves to its URL. Rejects with ListenError when the address cannot be bound. */
  async listen({ host, port }: ListenAddress): Promise<string> {
    return urlOf(await this.server.listen(host, port));
  }

  close(): Promise<void> {
    const closed = this.server.close();
    this.server.abort();
    return closed;
  }

  private async serve(request: IntakeRequest, response: ServerResponse): Promise<void> {
    const { connections } = this.context;
    const isAdmitted = connections.begin(request);
    const answer = isAdmitted ? await this.answerOrFail(request) : text(503, 'too many requests of one client');
    connections.end(request);
    // A body is not read, and none of the next bytes can be trusted to begin a request.
    if (!isAdmitted || !request.complete) response.shouldKeepAlive = false;
    response.writeHead(answer.status, {
      'content-type': answer.type,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...answer.headers,
    });
    response.end(request.method === 'HEAD' ? undefined : answer.text);
  }

  private answerOrFail(request: IntakeRequest): Promise<Answer> {
    return this.answer(request).catch((error: unknown) => {
      this.context.log.warn({ reason: messageOf(error) }, 'the console cannot answer');
      return text(503, 'not available now: the log says why');
    });
  }

  private async answer(request: IntakeRequest): Promise<Answer> {
    if (!hasOneHost(request)) return text(400, 'a request names one host');
    const [path = ''] = (request.url ?? '').split('?', 1);
    const page = Object.hasOwn(PAGES, path) ? PAGES[path] : undefined;
    if (page === undefined) return text(404, `there are ${Object.keys(PAGES).join(', ')}`);
    if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'GET only', { allow: 'GET, HEAD' });
    const isTrusted = this.isTrusted(request);
    if (isTrusted) this.context.connections.verify(request);
    return page(this.context, isTrusted);
  }

  private isTrusted({ headers }: IntakeRequest): boolean {
    const { token } = this.context;
    if (token === null) return foreignPart(headers) === null;
    return timingSafeEqual(sha256(headers.authorization ?? ''), sha256(`Bearer ${token}`));
  }
}

const sha256 = (value: string): Buffer => createHash('sha256').update(value).digest();
