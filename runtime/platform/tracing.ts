/** The place of a span in a trace, as W3C Trace Context has it, and as log lines have it. */
import type { Dispatch } from '../../schemas/generated/types.ts';

/** Version, trace id, span id and flags: `00-<32 hex>-<16 hex>-<2 hex>`. */
export type TraceParent = string;

/** What a dispatch keeps of its trace. */
export type TraceFields = Pick<Dispatch, 'trace' | 'tracestate'>;

/** What goes with a run or an attempt, by the names of its headers. */
export interface TraceContext {
  /** W3C `traceparent` of the span of the run or attempt; missing where nothing is traced. */
  readonly traceparent?: string | undefined;
  /** W3C `tracestate` that goes with it; missing where there is none. */
  readonly tracestate?: string | undefined;
}

/** Only what is there, to be sent as headers. */
export const traceHeaders = ({ traceparent, tracestate }: TraceContext): Readonly<Record<string, string>> => ({
  ...(traceparent === undefined ? {} : { traceparent }),
  ...(tracestate === undefined ? {} : { tracestate }),
});

/** The context of the request, for a run or an attempt of its dispatch. */
export const traceContextOf = ({ trace: traceparent, tracestate }: TraceFields): TraceContext =>
  traceHeaders({ traceparent, tracestate });

/** For a dispatch that continues the trace of another; nothing without a trace. */
export const traceFieldsOf = ({ trace, tracestate }: TraceFields): TraceFields => ({
  ...(trace === undefined ? {} : { trace }),
  ...(tracestate === undefined ? {} : { tracestate }),
});

/** `{trace_id}` for log lines; nothing without a trace. */
export const traceField = (trace: TraceParent | null | undefined): { readonly trace_id?: string } =>
  trace == null ? {} : { trace_id: trace.slice(3, 35) };
