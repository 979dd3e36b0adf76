/** Formats the lines of a gateway's log: readable on a terminal, unchanged in a pipe. */
import { createPaint } from '../../base/paint.ts';
import { parseLogEntry, printLogLine } from '../../runtime/platform/print-log-line.ts';
import type { CliContext } from '../base/context.ts';
import { visible } from '../output/print.ts';

/** Takes bytes as they are read, which may end within a line, and returns the text to write. */
export function createLogView(context: CliContext): (bytes: Buffer) => string | Buffer {
  if (context.stdout.isTTY !== true) return (bytes) => bytes;
  const paint = createPaint(context.colour.stdout);
  let pending = Buffer.alloc(0);
  return (bytes) => {
    const all = Buffer.concat([pending, bytes]);
    const end = all.lastIndexOf(10) + 1;
    pending = all.subarray(end);
    const lines = all.toString('utf8', 0, end).split('\n').slice(0, -1);
    return lines.map((line) => `${printLogLine(line, paint, context.clock.now())}\n`).join('');
  };
}

/** The warnings in this part of the gateway's log, as text. */
export function warningsIn(bytes: Buffer, context: CliContext): readonly string[] {
  const paint = createPaint(context.colour.stderr);
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => /^\{"level":"(?:warn|error)"/.test(line))
    .map((line) => printLogLine(line, paint, context.clock.now()));
}

/** Why a start failed, by these bytes of its log: reasons, hints and diagnostics; and lines that are not entries, such as a stack trace. */
export function failuresIn(bytes: Buffer): readonly string[] {
  return bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const entry = parseLogEntry(line);
      if (entry === null) return [line];
      const { level, msg, reason, hints, diagnostics } = entry;
      const frames = typeof diagnostics === 'string' ? diagnostics.trimEnd().split('\n') : [];
      if (level !== 'error') return frames;
      return [String(reason ?? msg), ...(Array.isArray(hints) ? hints.map(String) : []), ...frames];
    })
    .map(visible);
}
