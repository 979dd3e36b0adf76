/** Handles each request of the public server: finds its route, runs the stages and writes the answer. */
import type { ServerResponse } from 'node:http';
import type { LogFields } from '../platform/log.ts';
import { printableStart } from '../platform/log.ts';
import { StoreInDoubt } from '../store/contract.ts';
import type { LinkedRoute } from '../table/linked-table.ts';
import { hasOneHost } from './client.ts';
import type { Document, Documents } from './documents.ts';
import { readDocument } from './documents.ts';
import type { EventLog } from './event-log.ts';
import type { Services } from './intake.ts';
import { Intake } from './intake.ts';
import type { CaptureMiss, CaptureRequest, StagedRequest } from './keeper.ts';
import type { Watcher } from './pipeline.ts';
import { runPipeline } from './pipeline.ts';
import type { Reply } from './reply.ts';
import {
  ABORTED,
  answer,
  GET_ONLY,
  INTERNAL_ERROR,
  MALFORMED_REQUEST,
  REQUEST_TIMEOUT,
  retryLater,
  UNKNOWN_ROUTE,
} from './reply.ts';
import { respondAs } from './respond.ts';
import type { Connections } from './server.ts';
import type { IntakeRequest } from './unverified-bodies.ts';

/** Paths of routes. */
export const INTAKE_PATH = /^\/(?:webhooks|p|approvals)\//;
/** The response if another gateway may have the route, or this one may get it soon. */
const PENDING = retryLater('overloaded', 5);
/** The response to a client with too many concurrent requests. */
const CROWDED = retryLater('overloaded', 5);
/**
 * Replies that close the connection: after an ambiguous request the next may be ambiguous too, and a slow body may never end.
 */
const ENDS_CONNECTION: ReadonlySet<Reply> = new Set([MALFORMED_REQUEST, REQUEST_TIMEOUT, CROWDED]);

interface HandlerContext {
  readonly services: Services;
  readonly events: EventLog;
  readonly keep: CaptureRequest;
  readonly keepMiss: CaptureMiss;
  /** Loads changed files; null if a request need not wait for them. */
  readonly refresh: () => Promise<void> | null;
  readonly findRoute: (path: string) => LinkedRoute | undefined;
  /** Resolves when the routes that are being loaded can be found; null if none are being loaded. */
  readonly loading: () => Promise<void> | null;
  /** True if other gateways may serve a path that has no route here: a 404 would make its sender stop retrying. */
  readonly isPending: (path: string) => boolean;
  readonly documents: Documents;
  /** The status of an event, if the path is its status URL. */
  readonly status: (request: IntakeRequest, path: string) => Promise<Reply | null>;
  readonly connections: Connections;
}

export class RequestHandler {
  private readonly context: HandlerContext;
  private active = 0;
  /** Responses to write at the end of this turn of the event loop. */
  private leaving: { readonly intake: Intake; readonly reply: Reply }[] = [];
  private onIdle: (() => void) | null = null;

  constructor(context: HandlerContext) {
    this.context = context;
  }

  /** Answers every request, even after an internal error. */
  handle(request: IntakeRequest, response: ServerResponse): void {
    const admitted = this.context.connections.begin(request);
    if (!admitted || !hasOneHost(request)) {
      this.answer(request, response, admitted ? MALFORMED_REQUEST : CROWDED);
      return;
    }
    const path = pathOf(request.url ?? '');
    const changes = INTAKE_PATH.test(path) ? this.context.refresh() : null;
    if (changes === null) this.route(request, response, path);
    else void changes.then(() => this.route(request, response, path));
  }

  private route(request: IntakeRequest, response: ServerResponse, path: string): void {
    let route: LinkedRoute | undefined;
    try {
      route = this.context.findRoute(path);
    } catch (error) {
      this.fault(error, { path: printableStart(path, 200) });
      this.answer(request, response, INTERNAL_ERROR);
      return;
    }
    const loading = route === undefined ? this.context.loading() : null;
    if (route !== undefined) void this.intake(request, response, route);
    else if (loading === null || !INTAKE_PATH.test(path)) this.other(request, response, path);
    // The route may be one of them; a 404 would make its sender stop retrying.
    else void loading.then(() => this.route(request, response, path));
  }

  /** Answers a request whose path is not a route. */
  private async other(request: IntakeRequest, response: ServerResponse, path: string): Promise<void> {
    const status = await this.status(request, path);
    if (status !== null) return this.answer(request, response, status);
    const document = await this.context.documents.find(path);
    if (document !== undefined) return this.answer(request, response, documentReply(document, request));
    const isPending = INTAKE_PATH.test(path) && this.context.isPending(path);
    const outcome = isPending ? 'overloaded' : 'unknown_route';
    const miss = this.context.events.noRoute(path, outcome, request.method === 'POST');
    if (miss !== null) this.context.keepMiss(request, miss.nearest);
    this.answer(request, response, isPending ? PENDING : UNKNOWN_ROUTE);
  }

  private async status(request: IntakeRequest, path: string): Promise<Reply | null> {
    try {
      return await this.context.status(request, path);
    } catch (error) {
      this.fault(error, { path: printableStart(path, 200) });
      return INTERNAL_ERROR;
    }
  }

  /** Resolves once no request is in the stages. */
  idle(): Promise<void> {
    if (this.active === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.onIdle = resolve;
    });
  }

  private async intake(request: IntakeRequest, response: ServerResponse, route: LinkedRoute): Promise<void> {
    const { services } = this.context;
    const intake = new Intake(request, response, route, services.clock);
    this.active++;
    const reply = await this.run(intake, services, null);
    services.bodies.release(request);
    this.leaving.push({ intake, reply });
    if (this.leaving.length === 1) setImmediate(this.leave);
  }

  /**
   * Runs the stages for a request without a connection. @param replayOf id of the captured request that it repeats; null: it is
   * new
   */
  async send(
    { intake, services, watcher }: StagedRequest,
    replayOf: string | null,
  ): Promise<{ readonly reply: Reply; readonly kept: string | null }> {
    this.active++;
    const reply = await this.run(intake, services, watcher);
    const kept = this.context.keep(intake, reply, replayOf);
    this.report(intake, reply, kept);
    this.left(1);
    return { reply, kept };
  }

  private async run(intake: Intake, services: Services, watcher: Watcher | null): Promise<Reply> {
    try {
      const reply = await runPipeline(intake, services, watcher);
      return watcher === null && intake.route.respond !== null ? respondAs(intake, reply) : reply;
    } catch (error) {
      if (error instanceof StoreInDoubt) {
        intake.reason = 'commit_in_doubt';
        return INTERNAL_ERROR;
      }
      intake.reason = 'internal_error';
      this.fault(error, { route: intake.route.plan.name });
      return INTERNAL_ERROR;
    }
  }

  /**
   * Writes the responses of one turn of the event loop together, at its end. Over the loopback, the first write wakes the
   * reader; the following ones are much cheaper than writes between reads.
   */
  private readonly leave = (): void => {
    const { leaving } = this;
    this.leaving = [];
    for (const { intake, reply } of leaving) this.answer(intake.request, intake.response, reply);
    const { keep } = this.context;
    for (const { intake, reply } of leaving) {
      this.report(intake, reply, keep(intake, reply));
    }
    this.left(leaving.length);
  };

  /** Logs, counts and traces the request, or each event of its batch. */
  private report(request: Intake, reply: Reply, kept: string | null): void {
    const { events, services } = this.context;
    for (const one of request.events ?? [{ intake: request, reply }]) {
      if (one.intake.authenticated) services.tracing?.answered(one.intake, one.reply);
      events.finished(one.intake, one.reply, kept);
    }
  }

  private left(count: number): void {
    this.active -= count;
    if (this.active === 0) this.onIdle?.();
  }

  private fault(error: unknown, where: LogFields): void {
    this.context.services.log.error({ ...where, err: error }, 'internal error while handling a request');
  }

  private answer(request: IntakeRequest, response: ServerResponse, reply: Reply): void {
    this.context.connections.end(request);
    if (reply === ABORTED || response.destroyed) return;
    const { clock, shutdown } = this.context.services;
    const close = shutdown.retryAfterSeconds !== null || ENDS_CONNECTION.has(reply);
    try {
      answer(request, response, reply, { clock, close });
    } catch (error) {
      // For example a header that cannot be sent. The other requests must still be answered.
      this.fault(error, { outcome: reply.outcome });
      response.destroy();
    }
  }
}

function documentReply(document: Document, { method, headers }: IntakeRequest): Reply {
  return method === 'GET' || method === 'HEAD' ? readDocument(document, headers) : GET_ONLY;
}

/** The path as sent: an escaped or doubled slash makes a different path. */
function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
