/**
 * The console server: a second listener on its own port. `/livez`, `/readyz` and `/metrics` are for supervisors and collectors,
 * `/api/…` is for pages and programs, and `/login` sets the cookie. With a token, unauthenticated clients learn only whether the
 * gateway is live and ready, not which paths exist; access.ts authenticates.
 * The connection limits are those of the public server.
 */

import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { assetFolder, tryParseJson } from '../../../base/files.ts';
import type { ConsoleContext, OpenConsole } from '../../../runtime/console/console.ts';
import { foreignPart, hasOneHost } from '../../../runtime/intake/client.ts';
import type { ServerLimits } from '../../../runtime/intake/server.ts';
import { BoundedServer, LOCAL_LIMITS, urlOf } from '../../../runtime/intake/server.ts';
import type { BodyFault, IntakeRequest } from '../../../runtime/intake/unverified-bodies.ts';
import { UnverifiedBodies } from '../../../runtime/intake/unverified-bodies.ts';
import type { FigureRecorder } from '../../../runtime/metrics/metrics.ts';
import { actor } from '../../../runtime/store/actor.ts';
import type { Person } from '../../../runtime/table/link-people.ts';
import { isFormEncoded } from '../../../runtime/verify/request.ts';
import { Access } from './access.ts';
import type { Answer } from './answer.ts';
import { ApiRefusal, json, plainText, refused } from './answer.ts';
import { answerApi } from './api/answer-api.ts';
import { consoleSession } from './api/handlers.ts';
import { LiveEvents } from './live.ts';

/**
 * Long enough to send a payload over a slow connection. Strangers who are cut off earlier only connect more often, many at once,
 * which costs more than to keep them.
 */
const LIMITS: ServerLimits = { ...LOCAL_LIMITS, headersTimeoutMs: 10_000, requestTimeoutMs: 10_000 };

/** No external resources, no framing, no access by other pages, no caching. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

interface Exchange {
  readonly request: IntakeRequest;
  readonly response: ServerResponse;
  readonly path: string;
  /** Null: unauthenticated. */
  readonly person: Person | null;
}

type Page = (server: ConsoleServer, exchange: Exchange) => Answer | Promise<Answer>;

/** Paths without authentication. */
const PUBLIC: Readonly<Record<string, Page>> = {
  // The page has no data and cannot be framed, so a link from any site may open it.
  '/': (server, { request }) => {
    if (server.context.isOpen() && foreignPart(request.headers) === 'foreign_host') throw server.denied();
    return server.page();
  },
  '/livez': () => plainText(200, 'ok'),
  '/readyz': ({ context }, { person }) => {
    const { ready, problems } = context.readiness();
    return json(ready ? 200 : 503, person === null ? { ready } : { ready, problems });
  },
};

const OWN: Readonly<Record<string, Page>> = {
  '/metrics': async ({ context }) => {
    const { content_type, text } = await context.metrics();
    return { status: 200, type: content_type, text };
  },
};

/** What supervisors and collectors reach also outside `base_path`. */
const ANYWHERE: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

export const openConsole: OpenConsole = async (context) => {
  const console = new ConsoleServer(context);
  const server = new BoundedServer(console.serve, LIMITS, context.connections);
  const { host, port, base_path = '' } = context.plan;
  const url = urlOf(await server.listen(host, port)) + base_path;
  const figures = context.recordFigures(context);
  console.figures = figures;
  return {
    url,
    async close() {
      const closed = server.close();
      server.abort();
      await Promise.all([closed, figures.end()]);
    },
  };
};

class ConsoleServer {
  readonly context: ConsoleContext;
  /** Null until the server listens. */
  figures: FigureRecorder | null = null;
  private readonly access: Access;
  private readonly live: LiveEvents;
  /** Memory for the bodies of operators, apart from those of strangers. */
  private readonly bodies: Bodies;
  /** Read on the first request. */
  private document: Answer | null = null;

  constructor(context: ConsoleContext) {
    this.context = context;
    this.access = new Access(context);
    this.live = new LiveEvents(context);
    this.bodies = new UnverifiedBodies(context.clock, () => 0);
  }

  readonly serve = (request: IntakeRequest, response: ServerResponse): void => void this.answer(request, response);

  private async answer(request: IntakeRequest, response: ServerResponse): Promise<void> {
    const { connections } = this.context;
    const isAdmitted = connections.begin(request);
    const answer = isAdmitted ? await this.find(request, response) : plainText(503, 'too many requests by a client');
    const { stream } = answer;
    if (stream === undefined) connections.end(request);
    else response.once('close', () => connections.end(request));
    // After an unread body, the next bytes may not be the start of a request.
    if (!isAdmitted || !request.complete) response.shouldKeepAlive = false;
    response.writeHead(answer.status, { 'content-type': answer.type, ...HEADERS, ...answer.headers });
    if (stream !== undefined) stream(response);
    else response.end(request.method === 'HEAD' ? undefined : answer.text);
  }

  private find(request: IntakeRequest, response: ServerResponse): Promise<Answer> {
    return this.route(request, response).catch((error: unknown) => {
      if (error instanceof ApiRefusal) return refused(error);
      this.context.log.warn({ reason: messageOf(error) }, 'could not handle a console request');
      return refused(new ApiRefusal(503, 'not_available', 'temporarily unavailable: see the log of the gateway'));
    });
  }

  private async route(request: IntakeRequest, response: ServerResponse): Promise<Answer> {
    if (!hasOneHost(request)) throw new ApiRefusal(400, 'bad_request', 'a request must have exactly one Host header');
    const [given = '', query = ''] = (request.url ?? '').split('?', 2);
    const { base_path: base } = this.context.plan;
    const path = base !== undefined && `${given}/`.startsWith(`${base}/`) ? given.slice(base.length) : given;
    // A trusted proxy that removes the path names it.
    const isOutside = base !== undefined && path === given && this.access.pathOf(request) === '/';
    if (isOutside && !ANYWHERE.has(path))
      throw new ApiRefusal(404, 'not_found', 'not found: the console is below `base_path`');
    // The page requests its data relative to its own address.
    if (base !== undefined && path === '') return json(308, {}, { location: `${base}/` });
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead) this.access.checkOrigin(request);
    if (path === '/login' && request.method === 'POST') return this.login(request, response);
    const person = await this.access.personOf(request);
    if (person !== null) this.context.connections.verify(request);
    const exchange = { request, response, path, person };
    const open = Object.hasOwn(PUBLIC, path) ? PUBLIC[path] : undefined;
    if (open === undefined && person === null) throw this.denied();
    if (path === '/logout' && request.method === 'POST') return json(200, {}, await this.access.logout(request));
    if (person !== null && path.startsWith('/api/')) return this.api({ ...exchange, person }, query);
    const page = open ?? (Object.hasOwn(OWN, path) ? OWN[path] : undefined);
    if (page === undefined) throw new ApiRefusal(404, 'not_found', 'not found');
    if (!isRead) throw new ApiRefusal(405, 'method_not_allowed', 'this path accepts only GET', { allow: 'GET, HEAD' });
    return page(this, exchange);
  }

  private async api(
    { request, response, path, person }: Exchange & { readonly person: Person },
    query: string,
  ): Promise<Answer> {
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '');
    if (path === '/api/events' && request.method === 'GET')
      return this.live.answer(person.role, async () => (await this.access.personOf(request)) !== null);
    if (person.role === 'viewer' && method !== 'GET')
      throw new ApiRefusal(403, 'read_only', 'this token has read-only access');
    const body = method === 'GET' ? {} : await readBody(this.bodies, { request, response }, MAX_BODY_BYTES);
    const by = actor('console', person.name);
    return answerApi(
      { ...this.context, person, by, figures: this.figures },
      { method, path, query: new URLSearchParams(query), body },
    );
  }

  /** Accepts `{ token }` as JSON, or as a form, which redirects the browser to the pages. */
  private async login(request: IntakeRequest, response: ServerResponse): Promise<Answer> {
    if (this.context.isOpen()) throw new ApiRefusal(404, 'not_found', 'the console has no token');
    const body = await readBody(this.context.bodies, { request, response }, MAX_LOGIN_BYTES);
    const { token } = body as { readonly token?: unknown };
    if (typeof token !== 'string') throw new ApiRefusal(400, 'bad_input', 'token must be a string');
    const { person, cookie } = this.access.login(request, token);
    const session = consoleSession(this.context, person);
    return isFormEncoded(request.headers)
      ? json(303, session, { 'set-cookie': cookie, location: this.access.pathOf(request) })
      : json(200, session, { 'set-cookie': cookie });
  }

  page(): Answer {
    this.document ??= readConsolePage();
    return this.document;
  }

  denied(): ApiRefusal {
    if (!this.context.isOpen())
      return new ApiRefusal(401, 'unauthorized', 'missing token: send the token of gateway.console, or sign in', {
        'www-authenticate': 'Bearer',
      });
    return new ApiRefusal(403, 'foreign', 'without a token, the console rejects other host names and other sites');
  }
}

/**
 * The page contains its content security policy with the hashes of its script and style; `frame-ancestors` works only in a header.
 *
 * @throws ApiRefusal in a checkout that was not built
 */
export function readConsolePage(): Answer {
  const text = readDocument();
  const [, policy = "default-src 'none'"] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(text) ?? [];
  const headers = { 'content-security-policy': `${policy}; frame-ancestors 'none'` };
  return { status: 200, type: 'text/html; charset=utf-8', text, headers };
}

function readDocument(): string {
  try {
    return readFileSync(join(assetFolder('console'), 'index.html'), 'utf8');
  } catch {
    const where = 'the console pages are not built: run `npm run build` in the checkout';
    throw new ApiRefusal(404, 'not_found', where);
  }
}

/** Most bytes of a body, which may contain the payload of a test event. */
const MAX_BODY_BYTES = 1_048_576;

/** Most bytes of the body of a login, which anyone may send. */
const MAX_LOGIN_BYTES = 4096;

type Bodies = ConsoleContext['bodies'];

/** Accepts a form where a page may send one. @returns a plain object @throws ApiRefusal for a body that is too large or invalid */
export async function readBody(
  bodies: Bodies,
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  limit: number,
): Promise<object> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw unread('too_large', limit);
  if (request.awaitsContinue) response.writeContinue();
  const read = await bodies.read(request, limit);
  bodies.release(request);
  if (typeof read === 'string') throw unread(read, limit);
  if (read.length === 0) return {};
  const text = read.toString('utf8');
  if (limit === MAX_LOGIN_BYTES && isFormEncoded(request.headers)) return Object.fromEntries(new URLSearchParams(text));
  if (typeOf(request) !== 'application/json')
    throw new ApiRefusal(415, 'unsupported_media_type', 'the body must be application/json');
  const input = tryParseJson(text);
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  throw new ApiRefusal(400, 'bad_input', 'the body must be a JSON object');
}

const typeOf = ({ headers }: IntakeRequest): string =>
  (headers['content-type'] ?? '').split(';', 1).join('').trim().toLowerCase();

function unread(fault: BodyFault, limit: number): ApiRefusal {
  if (fault === 'too_large') return new ApiRefusal(413, 'payload_too_large', `the body exceeds ${limit} bytes`);
  if (fault === 'overloaded')
    return new ApiRefusal(503, 'overloaded', 'too many unread bodies', { 'retry-after': '5' });
  return new ApiRefusal(408, 'request_timeout', 'the body did not arrive in time');
}
