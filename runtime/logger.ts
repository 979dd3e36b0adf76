/** The process's log: pino, as JSON lines for a pipe or in a form for people on a terminal. */
import type { Writable } from 'node:stream';
import { pino } from 'pino';
import { build as pretty } from 'pino-pretty';
import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';
import { TurnBuffer } from './turn-buffer.ts';

export interface LoggerOptions {
  readonly stream: Writable;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** For people: one coloured line, local time. */
  readonly pretty: boolean;
  readonly colour: boolean;
  readonly clock: Clock;
}

/** `flush` writes what the current turn has logged; to be called before an end that does not wait for the event loop. */
export interface ProcessLogger extends Logger {
  flush(): void;
}

/**
 * A logger on a stream. Values are always quoted, so that no text of a sender can begin a line or move a cursor; messages
 * are constants of this program.
 */
export function createLogger({ stream, level, pretty: forPeople, colour, clock }: LoggerOptions): ProcessLogger {
  const base = { level, base: null, timestamp: createTimestamp(clock), formatters: { level: levelName } };
  if (!forPeople) {
    const buffer = new TurnBuffer(stream, clock);
    return Object.assign(pino(base, buffer), { flush: () => buffer.flush() });
  }
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

/** ISO time of a line; made once per millisecond, for it costs as much as the rest of the line. */
function createTimestamp(clock: Clock): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = clock.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

function levelName(level: string): { level: string } {
  return { level };
}
