/** The logger the runtime writes to: pino's calling convention, so that a test can pass a recorder. */

export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Takes everything and writes nothing. */
export const silentLog: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
