/**
 * The console: a second listener, whose port is never the public one. `/livez`, `/readyz` and `/metrics` are for supervisors and
 * collectors, `/api/…` is what pages and programs call. With a token, clients without it learn only from the status codes
 * whether the gateway is live and ready. Without one, everything else is for this machine only, and not for web pages of others.
 * The bounds on connections are those of the public server.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { messageOf } from '../../../base/message-of.ts';
import type { ConsoleContext, OpenConsole } from '../../../runtime/console/console.ts';
import type { IntakeRequest } from '../../../runtime/intake/body.ts';
import { foreignPart, hasOneHost } from '../../../runtime/intake/origin.ts';
import { BoundedServer, LOCAL_LIMITS, urlOf } from '../../../runtime/intake/server.ts';
import type { Answer } from './answer.ts';
import { ApiRefusal, json, plainText, refused } from './answer.ts';
import { answerApi } from './api/answer-api.ts';
import { recordFigures } from './figures/record-figures.ts';
import { pageAnswer } from './page.ts';

type Page = (context: ConsoleContext, trusted: boolean) => Answer | Promise<Answer>;

/** Those that anyone may ask. */
const PUBLIC: Readonly<Record<string, Page>> = {
  '/': ({ token }, trusted) => {
    if (token === null && !trusted) throw untrusted({ token });
    return pageAnswer();
  },
  '/livez': () => plainText(200, 'ok'),
  '/readyz': ({ readiness }, trusted) => {
    const { ready, problems } = readiness();
    return json(ready ? 200 : 503, trusted ? { ready, problems } : { ready });
  },
};

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

export const openConsole: OpenConsole = async (context) => {
  const serve = (request: IntakeRequest, response: ServerResponse): void => void answer(context, request, response);
  const server = new BoundedServer(serve, LOCAL_LIMITS, context.connections);
  const url = urlOf(await server.listen(context.plan.host, context.plan.port));
  const endFigures = recordFigures(context);
  return {
    url,
    async close() {
      const closed = server.close();
      server.abort();
      await Promise.all([closed, endFigures()]);
    },
  };
};

async function answer(context: ConsoleContext, request: IntakeRequest, response: ServerResponse): Promise<void> {
  const { connections } = context;
  const isAdmitted = connections.begin(request);
  const {
    status,
    type,
    text: body,
    headers,
  } = isAdmitted ? await find(context, request) : plainText(503, 'too many requests');
  connections.end(request);
  // A body that is not read whole: none of the next bytes can be trusted to begin a request.
  if (!isAdmitted || !request.complete) response.shouldKeepAlive = false;
  response.writeHead(status, { 'content-type': type, ...HEADERS, ...headers });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function find(context: ConsoleContext, request: IntakeRequest): Promise<Answer> {
  return route(context, request).catch((error: unknown) => {
    if (error instanceof ApiRefusal) return refused(error);
    context.log.warn({ reason: messageOf(error) }, 'the console cannot answer');
    return plainText(503, 'not available now: the log says why');
  });
}

async function route(context: ConsoleContext, request: IntakeRequest): Promise<Answer> {
  if (!hasOneHost(request)) return plainText(400, 'a request names one host');
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const isTrusted = trusts(context, request);
  if (isTrusted) context.connections.verify(request);
  const page = Object.hasOwn(PUBLIC, path) ? PUBLIC[path] : undefined;
  if (page === undefined && !isTrusted) throw untrusted(context);
  if (path.startsWith('/api/')) return answerApi(context, request, path, new URLSearchParams(query));
  if (page === undefined && path !== '/metrics') throw new ApiRefusal(404, 'not_found', 'there is nothing here');
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new ApiRefusal(405, 'method_not_allowed', 'GET only', { allow: 'GET, HEAD' });
  if (page !== undefined) return page(context, isTrusted);
  const { content_type, text: body } = await context.metrics();
  return { status: 200, type: content_type, text: body };
}

const untrusted = ({ token }: Pick<ConsoleContext, 'token'>): ApiRefusal =>
  token === null
    ? new ApiRefusal(403, 'foreign', 'without a token, the console answers no other web page and no other host')
    : new ApiRefusal(401, 'unauthorized', 'the token of gateway.console is missing', { 'www-authenticate': 'Bearer' });

function trusts({ token }: ConsoleContext, { headers }: IntakeRequest): boolean {
  if (token === null) return foreignPart(headers) === null;
  return timingSafeEqual(sha256(headers.authorization ?? ''), sha256(`Bearer ${token}`));
}

const sha256 = (value: string): Buffer => createHash('sha256').update(value).digest();
