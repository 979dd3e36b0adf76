/** Reads the end of a log file and follows it as it grows, through rotation and truncation. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { isSystemError } from '../../base/system-error.ts';

const BLOCK = 64 * 1024;

export interface LogPosition {
  readonly inode: number;
  readonly offset: number;
}

export interface Tail {
  readonly bytes: Buffer;
  readonly position: LogPosition;
}

/** The last `lines` lines. @throws the system's error when there is no such file. */
export function readTail(path: string, lines: number): Tail {
  const file = openSync(path, 'r');
  try {
    const { size, ino } = fstatSync(file);
    let start = size;
    let chunk = Buffer.alloc(0);
    // A final line end closes the last line and opens none.
    while (start > 0 && countLines(chunk) <= lines) {
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

const countLines = (chunk: Buffer): number => {
  let count = 0;
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count += 1;
  return count;
};

/** Where the last `lines` lines of a text begin. */
function startOfLast(chunk: Buffer, lines: number): number {
  let start = chunk.length;
  for (let line = 0; line < lines && start > 0; line += 1) start = start < 2 ? 0 : chunk.lastIndexOf(10, start - 2) + 1;
  return start;
}

/** What was written since `position`; a file that was replaced or cut short is read from its start. */
export function readSince(path: string, position: LogPosition): Tail {
  const now = stat(path);
  if (now === null) return { bytes: Buffer.alloc(0), position };
  const same = now.ino === position.inode && now.size >= position.offset;
  const from = same ? position.offset : 0;
  if (now.size === from) return { bytes: Buffer.alloc(0), position: { inode: now.ino, offset: from } };
  const file = openSync(path, 'r');
  try {
    const block = Buffer.alloc(now.size - from);
    const length = readSync(file, block, 0, block.length, from);
    return {
      bytes: block.subarray(0, length),
      position: { inode: now.ino, offset: from + length },
    };
  } finally {
    closeSync(file);
  }
}

function stat(path: string): { ino: number; size: number } | null {
  try {
    return statSync(path);
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return null;
    throw error;
  }
}
