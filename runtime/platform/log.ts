/**
 * The interface of the log, with the fields of a trace that its lines carry, and how untrusted text is made safe for
 * it. Tests pass a recorder.
 */

import { UNSEEN_ALONE } from '../../base/text.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';

/**
 * The fields of a log line, by name. Values are anything that JSON can hold.
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
  /** What the service does. */
  info(fields: LogFields, message: string): void;
  /** What an operator should look at. */
  warn(fields: LogFields, message: string): void;
  /** What does not work. */
  error(fields: LogFields, message: string): void;
}

/** Discards everything. */
export const silentLog: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

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

const UNPRINTABLE = new RegExp(UNSEEN_ALONE, 'u');
const EACH_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gu');

/** Makes untrusted text safe to print, to log, and to pass to other programs as an argument. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** At most `limit` UTF-16 units of a text, with unprintable characters replaced by U+FFFD. */
export function printableStart(text: string, limit: number): string {
  const short = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return isPrintable(short) ? short : short.replace(EACH_UNPRINTABLE, '\ufffd');
}
