/** Chooses lines of a gateway's log, for `gateway logs`. */
import { parseLogEntry } from '../../runtime/platform/print-log-line.ts';

/** From the least to the most severe. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export interface LogConditions {
  readonly route: string | null;
  /** This level and those above it. */
  readonly level: (typeof LEVELS)[number] | null;
  /** Unix ms. */
  readonly since: number | null;
}

/** Takes bytes as they are read, which may end within a line. @param most how many of the chosen lines, from the end */
export type ChooseLines = (bytes: Buffer, most?: number) => Buffer;

/** Null: nothing is asked for, so every line is chosen. Lines that are no entries, such as a stack trace, are not chosen. */
export function logFilter({ route, level, since }: LogConditions): ChooseLines | null {
  if (route === null && level === null && since === null) return null;
  const least = level === null ? 0 : LEVELS.indexOf(level);
  let pending = Buffer.alloc(0);
  const holds = (line: string): boolean => {
    const entry = parseLogEntry(line);
    if (entry === null || (route !== null && entry.route !== route)) return false;
    const isSince = since === null || Date.parse(String(entry.time)) >= since;
    return isSince && (LEVELS as readonly unknown[]).indexOf(entry.level) >= least;
  };
  return (bytes, most = Number.POSITIVE_INFINITY) => {
    const all = Buffer.concat([pending, bytes]);
    const end = all.lastIndexOf(10) + 1;
    pending = all.subarray(end);
    const lines = all.toString('utf8', 0, end).split('\n').slice(0, -1).filter(holds);
    return Buffer.from(
      lines
        .slice(Math.max(0, lines.length - most))
        .map((line) => `${line}\n`)
        .join(''),
    );
  };
}
