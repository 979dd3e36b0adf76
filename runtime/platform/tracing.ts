/** The place of a span in a trace, as W3C Trace Context has it, and as log lines have it. */

/** Version, trace id, span id and flags: `00-<32 hex>-<16 hex>-<2 hex>`. */
export type TraceParent = string;

/** `{trace_id}` for log lines; nothing without a trace. */
export const traceField = (trace: TraceParent | null | undefined): { readonly trace_id?: string } =>
  trace == null ? {} : { trace_id: trace.slice(3, 35) };
