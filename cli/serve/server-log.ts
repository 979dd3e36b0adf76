/** The log of a serving process, on stderr: readable on a terminal, JSON lines elsewhere. */

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { createPaint } from '../../base/paint.ts';
import type { Redact } from '../../runtime/deliver/redact.ts';
import { describeDiskError } from '../../runtime/platform/files.ts';
import type { ProcessLogger } from '../../runtime/platform/logger.ts';
import { createLogger, parseLogEntry, printLogLine } from '../../runtime/platform/logger.ts';
import type { CliContext } from '../base/context.ts';
import { CliError, UsageError } from '../base/errors.ts';
import { visible } from '../output/print.ts';

/** From the least to the most severe. */
export const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** `LOG_LEVEL` sets the level. @param to the file behind stderr, as far as known; that of the home is rotated */
export function createServerLog(context: CliContext, redact?: Redact, to?: string): ProcessLogger {
  const { stderr, colour, env, clock, home } = context;
  const named = env.LOG_LEVEL === undefined || env.LOG_LEVEL === '' ? 'info' : env.LOG_LEVEL.toLowerCase();
  const level = LEVELS.find((known) => known === named);
  if (level === undefined) throw new UsageError(`LOG_LEVEL must be one of ${LEVELS.join(', ')}, not "${named}"`);
  return createLogger({
    stream: to === logFile(home) ? rotating(stderr, to) : stderr,
    level,
    pretty: stderr.isTTY === true,
    colour: colour.stderr,
    clock,
    ...(redact && { redact }),
  });
}

/** A larger log is rotated, in bytes. */
const ROTATE_BYTES = 32 * 1024 * 1024;

/** The log file of a background gateway. */
export const logFile = (home: string): string => join(home, 'logs', 'gateway.log');

/**
 * Opens the log for appending, mode 0600. Returns the file descriptor.
 * @throws CliError if it cannot be written
 */
export function openLogFile(home: string): number {
  const path = logFile(home);
  try {
    // On a read-only disk, a folder that cannot be created is reported as missing.
    accessSync(home, constants.W_OK);
    return openForAppending(path);
  } catch (error) {
    const hint = 'run it in the foreground, with the log on standard error: hookwright gateway run';
    throw new CliError(`cannot write ${path}: ${describeDiskError(error)}`, hint);
  }
}

function openForAppending(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, 'a', 0o600);
  chmodSync(path, 0o600);
  return file;
}

/**
 * Before a text is added to a large log, copies it to `gateway.log.1` and empties it: the process cannot open its stderr anew.
 * A copy that fails, on a full disk, is tried again after as many bytes.
 */
function rotating(stream: Writable, path: string): Writable {
  let limit = ROTATE_BYTES;
  const rotate = (): void => {
    if (statSync(path).size <= limit) return;
    limit += ROTATE_BYTES;
    rmSync(`${path}.1`, { force: true });
    copyFileSync(path, `${path}.1`);
    truncateSync(path);
    limit = ROTATE_BYTES;
  };
  const write = (text: string, _encoding: string, done: (error?: undefined) => void): void => {
    try {
      rotate();
    } catch {
      // The log grows, which is better than no log.
    }
    done(void stream.write(text));
  };
  return new Writable({ decodeStrings: false, write });
}

/** Converts bytes, which may end within a line, to the text to print. */
export function createLogView(context: CliContext): (bytes: Buffer) => string | Buffer {
  if (context.stdout.isTTY !== true) return (bytes) => bytes;
  const paint = createPaint(context.colour.stdout);
  const linesOf = createLineReader();
  return (bytes) =>
    linesOf(bytes)
      .map((line) => `${printLogLine(line, paint, null)}\n`)
      .join('');
}

/** Collects bytes and returns the lines that are complete. */
export function createLineReader(): (bytes: Buffer) => readonly string[] {
  let pending = Buffer.alloc(0);
  return (bytes) => {
    const all = Buffer.concat([pending, bytes]);
    const end = all.lastIndexOf(10) + 1;
    pending = all.subarray(end);
    return all.toString('utf8', 0, end).split('\n').slice(0, -1);
  };
}

const linesIn = (bytes: Buffer): readonly string[] => bytes.toString('utf8').split('\n');

/** The warnings in these bytes of the gateway's log, as text. */
export function warningsIn(bytes: Buffer, context: CliContext): readonly string[] {
  const paint = createPaint(context.colour.stderr);
  return linesIn(bytes)
    .filter((line) => /^\{"level":"(?:warn|error)"/.test(line))
    .map((line) => printLogLine(line, paint, context.clock.now()));
}

/** Why a start failed, from these bytes of its log: reasons, hints, diagnostics, and lines that are not entries, such as a stack trace. */
export function failuresIn(bytes: Buffer): readonly string[] {
  return linesIn(bytes)
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

const BLOCK = 64 * 1024;

export interface LogPosition {
  readonly inode: number;
  readonly offset: number;
}

export interface Tail {
  readonly bytes: Buffer;
  readonly position: LogPosition;
}

/** The last `lines` lines. @throws the system's error if there is no such file */
export function readTail(path: string, lines: number): Tail {
  const file = openSync(path, 'r');
  try {
    const { size, ino } = fstatSync(file);
    let start = size;
    let chunk = Buffer.alloc(0);
    while (start > 0 && lines > 0 && startOfLast(chunk, lines) === 0) {
      const length = Math.min(BLOCK, start);
      start -= length;
      const block = Buffer.alloc(length);
      readSync(file, block, 0, length, start);
      chunk = Buffer.concat([block, chunk]);
    }
    return { bytes: chunk.subarray(startOfLast(chunk, lines)), position: { inode: ino, offset: size } };
  } finally {
    closeSync(file);
  }
}

/** The offset of the last `lines` lines of a text; 0 if it has fewer. A final line end does not begin another line. */
function startOfLast(chunk: Buffer, lines: number): number {
  let start = chunk.length;
  for (let line = 0; line < lines && start > 0; line += 1) start = start < 2 ? 0 : chunk.lastIndexOf(10, start - 2) + 1;
  return start;
}

/** The bytes written since `position`; a replaced or truncated file is read from its start. */
export function readSince(path: string, position: LogPosition): Tail {
  const now = statSync(path, { throwIfNoEntry: false });
  if (now === undefined) return { bytes: Buffer.alloc(0), position };
  const same = now.ino === position.inode && now.size >= position.offset;
  const from = same ? position.offset : 0;
  if (now.size === from) return { bytes: Buffer.alloc(0), position: { inode: now.ino, offset: from } };
  const file = openSync(path, 'r');
  try {
    const block = Buffer.alloc(now.size - from);
    const length = readSync(file, block, 0, block.length, from);
    return { bytes: block.subarray(0, length), position: { inode: now.ino, offset: from + length } };
  } finally {
    closeSync(file);
  }
}
