/** The interface of the log, with pino's calling convention. Tests pass a recorder. */

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
