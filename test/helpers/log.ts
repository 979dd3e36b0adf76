/** Loggers for tests: a silent one, and one that records. */
import type { LogFields, Logger } from '../../runtime/platform/log.ts';

const nothing = (): void => {};

export const silentLog: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: LogFields;
  readonly message: string;
}

export function recordLog(): Logger & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: keyof Logger) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields, message });
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
