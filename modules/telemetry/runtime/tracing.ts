/**
 * Traces over `@opentelemetry/api`, an optional peer dependency: the program that runs the gateway registers the SDK.
 *
 *   SERVER   POST /webhooks/<route>      parent: the context that the sender passes
 *   PRODUCER schedule <job>              for runs without an event
 *     CONSUMER process <route or job>    the run of the agent
 *     CLIENT   send <target>             each delivery attempt
 *
 * Without either, run and attempts have a parent derived from the id of their dispatch.
 *
 * Names and attributes follow OpenTelemetry's semantic conventions for HTTP and messaging. Spans contain no payload, prompt,
 * answer or secret.
 */
import { createHash } from 'node:crypto';
import type { Attributes, Span, SpanContext, SpanOptions, TraceAPI, TraceState } from '@opentelemetry/api';
import { targetLabel } from '../../../base/text.ts';
import type { DeliveryRequest, HttpCall } from '../../../runtime/deliver/deliverer.ts';
import type { Intake } from '../../../runtime/intake/intake.ts';
import type { Reply } from '../../../runtime/intake/reply.ts';
import type { Tracing } from '../../../runtime/module.ts';
import type { TraceContext, TraceFields } from '../../../runtime/platform/log.ts';

type Api = typeof import('@opentelemetry/api');

/** Instrumentation scope of the spans. */
const SCOPE = 'hookwright';

/** Returns null if `@opentelemetry/api` is not installed. */
export async function openTracing(): Promise<Tracing | null> {
  const api = await import('@opentelemetry/api').catch(() => null);
  return api === null ? null : new Spans(api);
}

type Operation = 'create' | 'receive' | 'process' | 'send';

const messaging = (destination: string, id: string, type: Operation, operation: string = type): Attributes => ({
  'messaging.system': SCOPE,
  'messaging.destination.name': destination,
  'messaging.message.id': id,
  'messaging.operation.name': operation,
  'messaging.operation.type': type,
});

/** Attributes of the last request of an attempt, which may make several: for pieces, and to search for earlier posts. */
function httpClient(call: HttpCall | undefined): Attributes {
  if (call === undefined) return {};
  const { method, origin, end } = call;
  const { protocol, hostname, port } = new URL(origin);
  return {
    'http.request.method': method,
    'server.address': hostname.replace(/^\[|\]$/g, ''),
    'server.port': Number(port) || (protocol === 'http:' ? 80 : 443),
    ...(typeof end === 'number' ? { 'http.response.status_code': end } : {}),
  };
}

/** The error type of the conventions: the status of a rejection, or the code of a connection error. */
const failureOf = ({ end = 0 }: Partial<HttpCall> = {}): string | undefined =>
  typeof end === 'string' || end >= 400 ? String(end) : undefined;

/** The context that the sender passes. Repeated header lines are already joined by commas. */
const sentWith = ({ headers: { traceparent, tracestate } }: Intake): TraceContext =>
  Object.fromEntries(Object.entries({ traceparent, tracestate }).filter(([, value]) => typeof value === 'string'));

/**
 * A span context for work without an event or a schedule, such as a job run by hand from another process. It is the same for
 * the run and each delivery, on every gateway.
 */
function originOf(profile: string, owner: string, deliveryId: string): SpanContext {
  const digest = createHash('sha256')
    .update(JSON.stringify([profile, owner, deliveryId]))
    .digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48), traceFlags: 1, isRemote: true };
}

/** Fields stored with a dispatch, for the spans that continue this one. */
function fieldsOf(span: Span) {
  const { traceparent: trace, tracestate } = printTraceContext(span.spanContext());
  return { trace, ...(tracestate === undefined ? {} : { tracestate }) };
}

class Spans implements Tracing {
  private readonly api: Api;
  private readonly trace: TraceAPI;
  /** Spans of unanswered requests. */
  private readonly requests = new WeakMap<Intake, Span>();

  constructor(api: Api) {
    this.api = api;
    this.trace = api.trace;
  }

  received(intake: Intake): TraceFields {
    const { plan } = intake.route;
    const [path = ''] = intake.url.split('?', 1);
    const span = this.begin(sentWith(intake), `${intake.method} ${path}`, {
      kind: this.api.SpanKind.SERVER,
      startTime: intake.receivedAt,
      attributes: {
        'http.request.method': intake.method,
        'http.route': path,
        'url.path': path,
        'url.scheme': 'http',
        ...messaging(plan.name, intake.deliveryId, 'receive'),
        'hookwright.event': intake.event,
        'hookwright.profile': plan.profile,
      },
    });
    this.requests.set(intake, span);
    const fields = fieldsOf(span);
    intake.trace = fields.trace;
    return fields;
  }

  answered(intake: Intake, { status, outcome }: Reply): void {
    if (!this.requests.has(intake)) this.received(intake);
    const span = this.requests.get(intake);
    span?.setAttributes({ 'http.response.status_code': status, 'hookwright.outcome': outcome });
    if (intake.reason !== null) span?.setAttribute('hookwright.reason', intake.reason);
    // By the conventions, an error of the client does not mark the server's span as failed.
    if (status >= 500) this.fail(span, outcome);
    span?.end();
  }

  fired(job: string, dueAt: number): TraceFields {
    const kind = this.api.SpanKind.PRODUCER;
    const attributes = messaging(job, `${job}@${new Date(dueAt).toISOString()}`, 'create', 'schedule');
    const span = this.begin({}, `schedule ${job}`, { kind, attributes });
    span.end();
    return fieldsOf(span);
  }

  readonly agent: Tracing['agent'] = (agent) => ({
    ...agent,
    run: async (request, ended) => {
      const { profile, route, job = '', session, event, delivery_id } = request;
      const owner = route || job;
      const attributes = { ...messaging(owner, delivery_id, 'process'), 'hookwright.event': event };
      const span = this.begin(
        request,
        `process ${owner}`,
        { kind: this.api.SpanKind.CONSUMER, attributes: { ...attributes, 'hookwright.session': session } },
        originOf(profile, owner, delivery_id),
      );
      try {
        return await agent.run({ ...request, ...printTraceContext(span.spanContext()) }, ended);
      } catch (error) {
        this.fail(span, error instanceof Error ? error.name : 'Error');
        throw error;
      } finally {
        span.end();
      }
    },
  });

  readonly deliverer: Tracing['deliverer'] = (deliverer) => ({
    ...deliverer,
    deliver: async (request: DeliveryRequest) => {
      const target = targetLabel(request);
      const span = this.begin(
        request,
        `send ${target}`,
        { kind: this.api.SpanKind.CLIENT, attributes: messaging(target, request.key, 'send') },
        originOf(request.profile, request.route, request.delivery_id),
      );
      const calls: HttpCall[] = [];
      const called = (call: HttpCall): void => void calls.push(call);
      const outcome = await deliverer.deliver({ ...request, ...printTraceContext(span.spanContext()), called });
      span.setAttributes({ 'hookwright.outcome': outcome.kind, ...httpClient(calls.at(-1)) });
      if (outcome.kind !== 'ok') this.fail(span, failureOf(calls.at(-1)) ?? outcome.kind);
      span.end();
      return outcome;
    },
  });

  /** @param origin the parent if `parent` has none; null: the span starts a trace */
  private begin(parent: TraceContext, name: string, options: SpanOptions, origin: SpanContext | null = null): Span {
    const { ROOT_CONTEXT, createTraceState } = this.api;
    const context = parseTraceContext(parent, createTraceState) ?? origin;
    const within = context === null ? ROOT_CONTEXT : this.trace.setSpanContext(ROOT_CONTEXT, context);
    // Read each time, because an SDK may be registered later or replaced.
    return this.trace.getTracer(SCOPE).startSpan(name, options, within);
  }

  private fail(span: Span | undefined, type: string): void {
    span?.setAttribute('error.type', type);
    span?.setStatus({ code: this.api.SpanStatusCode.ERROR });
  }
}

/** Versions after `00` may append fields, which are not read; `ff` is not allowed. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Number of members that every program of a trace must pass on. */
const MOST_MEMBERS = 32;

/** @param create `createTraceState` of `@opentelemetry/api`, which reads at most 512 characters and drops invalid members */
export type CreateTraceState = (text: string) => TraceState;

/** Null for an invalid `traceparent`: a new trace starts. */
export function parseTraceContext(
  { traceparent = '', tracestate = '' }: TraceContext,
  create: CreateTraceState,
): SpanContext | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return null;
  const traceState = parseTraceState(tracestate, create);
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return traceState === null ? context : { ...context, traceState };
}

/** Null if any member is invalid: the trace continues without it. */
function parseTraceState(text: string, create: CreateTraceState): TraceState | null {
  const members = text.split(',').flatMap((member) => member.trim() || []);
  const state = create(members.join(','));
  const isWhole = members.length > 0 && members.length <= MOST_MEMBERS && state.serialize() === members.join(',');
  return isWhole ? state : null;
}

export function printTraceContext({ traceId, spanId, traceFlags, traceState }: SpanContext) {
  const flags = (traceFlags & 1).toString(16).padStart(2, '0');
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: traceState?.serialize() || undefined };
}
