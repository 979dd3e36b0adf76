/**
 * The interface of the log, the trace fields of its lines, and functions that make untrusted text safe for it. Tests pass a
 * recorder.
 */

import { INVISIBLE_ALONE } from '../../base/text.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';

/**
 * The fields of a log line, by name. Values are JSON values.
 *
 * @example
 * ```ts
 * import type { LogFields } from 'hookwright/runtime';
 *
 * const fields: LogFields = { route: 'issues', status: 202 };
 * ```
 */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * A log, with the calling convention of pino: fields, then a message that is a constant.
 *
 * @example
 * ```ts
 * import type { Logger } from 'hookwright/runtime';
 *
 * const log: Logger = { debug: () => {}, info: console.log, warn: console.warn, error: console.error };
 * log.info({ route: 'issues' }, 'accepted');
 * ```
 */
export interface Logger {
  /** For developers. */
  debug(fields: LogFields, message: string): void;
  /** Normal operation. */
  info(fields: LogFields, message: string): void;
  /** Conditions that an operator should check. */
  warn(fields: LogFields, message: string): void;
  /** Failures. */
  error(fields: LogFields, message: string): void;
}

export const silentLog: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Version, trace id, span id and flags: `00-<32 hex>-<16 hex>-<2 hex>`. */
export type TraceParent = string;

/** Trace fields stored with a dispatch. */
export type TraceFields = Pick<Dispatch, 'trace' | 'tracestate'>;

/** Trace context of a run or an attempt, by header names. */
export interface TraceContext {
  /** W3C `traceparent` of the span of the run or attempt; missing without tracing. */
  readonly traceparent?: string | undefined;
  /** W3C `tracestate` of the same span; missing if there is none. */
  readonly tracestate?: string | undefined;
}

/** Only the fields that are set, as headers. */
export const traceHeaders = ({ traceparent, tracestate }: TraceContext): Readonly<Record<string, string>> => ({
  ...(traceparent === undefined ? {} : { traceparent }),
  ...(tracestate === undefined ? {} : { tracestate }),
});

/** The context of the request, for a run or an attempt of its dispatch. */
export const traceContextOf = ({ trace: traceparent, tracestate }: TraceFields): TraceContext =>
  traceHeaders({ traceparent, tracestate });

/** Fields for a dispatch that continues the trace of another; empty without a trace. */
export const traceFieldsOf = ({ trace, tracestate }: TraceFields): TraceFields => ({
  ...(trace === undefined ? {} : { trace }),
  ...(tracestate === undefined ? {} : { tracestate }),
});

/** `{trace_id}` for log lines; empty without a trace. */
export const traceField = (trace: TraceParent | null | undefined): { readonly trace_id?: string } =>
  trace == null ? {} : { trace_id: trace.slice(3, 35) };

const UNPRINTABLE = new RegExp(INVISIBLE_ALONE, 'u');
const EACH_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');

/** True if the text is safe to print, to log, and to pass to other programs as an argument. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** Returns at most `limit` UTF-16 units of a text, with unprintable characters replaced by U+FFFD. */
export function printableStart(text: string, limit: number): string {
  const short = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return isPrintable(short) ? short : short.replace(EACH_UNPRINTABLE, '\ufffd');
}
