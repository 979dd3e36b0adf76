/** The interface of the log, with pino's calling convention. Tests pass a recorder. */

export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Discards everything. */
export const silentLog: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
