/** `traceparent` and `tracestate` of W3C Trace Context, level 2, as the context of a span. */
import type { SpanContext, TraceState } from '@opentelemetry/api';
import type { TraceContext } from '../../../runtime/platform/tracing.ts';

/** Versions after `00` may append fields, which are not read; `ff` is not allowed. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** As many as every program of a trace passes on. */
const MOST_MEMBERS = 32;

/** @param create the one of `@opentelemetry/api`, which keeps what it understands of a text of at most 512 characters */
export type CreateTraceState = (text: string) => TraceState;

/** Null for what is no `traceparent`: the trace then begins anew. */
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

/** Null for what is odd in any member: the trace goes on without it. */
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
