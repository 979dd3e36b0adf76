/** `traceparent` of W3C Trace Context, level 2, §3.2. */
import type { SpanContext } from '@opentelemetry/api';
import type { TraceParent } from '../../../../runtime/platform/tracing.ts';

/** Versions after `00` may append fields, which are not read; `ff` is not allowed. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Null for what is not one: the trace then begins anew. */
export function parseTraceParent(text: string): SpanContext | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(text) ?? [];
  if (version === undefined || (version === '00' && rest !== undefined)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export const printTraceParent = ({ traceId, spanId, traceFlags }: SpanContext): TraceParent =>
  `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;
