/** The process's log: pino, as JSON lines for a pipe or in a form for people on a terminal. */
import type { Writable } from 'node:stream';
import { pino } from 'pino';
import { build as pretty } from 'pino-pretty';
import type { Logger } from './log.ts';

export interface LoggerOptions {
  readonly stream: Writable;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** For people: one coloured line, local time. */
  readonly pretty: boolean;
  readonly colour: boolean;
}

/**
 * A logger on a stream. Values are always quoted, so that no text of a sender can begin a line or move a cursor; messages
 * are constants of this program.
 */
export function createLogger({ stream, level, pretty: forPeople, colour }: LoggerOptions): Logger {
  const base = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: levelName } };
  if (!forPeople) return pino(base, stream);
  return pino(
    base,
    pretty({
      destination: stream,
      sync: true,
      colorize: colour,
      singleLine: true,
      translateTime: 'SYS:HH:MM:ss.l',
      errorLikeObjectKeys: ['err'],
    }),
  );
}

function levelName(level: string): { level: string } {
  return { level };
}
