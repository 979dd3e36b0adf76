/** The files of the journal: two segments that take turns, beside the database file. */
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import type { JournalRecord, SegmentHead } from './format.ts';
import { readHead, readRecords } from './format.ts';

export type SegmentIndex = 0 | 1;
export const SEGMENTS = [0, 1] as const;

/** @param path of the database */
export const segmentPath = (path: string, index: SegmentIndex): string =>
  `${path.replace(/\.db$/, '')}.journal.${index}`;

/** Null: there is no such file. Throws as node:fs does. */
export function openSegment(path: string, index: SegmentIndex): number | null {
  try {
    return openSync(segmentPath(path, index), 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

export const hasSegments = (path: string): boolean => SEGMENTS.some((index) => existsSync(segmentPath(path, index)));

export function removeSegments(path: string): void {
  for (const index of SEGMENTS) rmSync(segmentPath(path, index), { force: true });
}

/** What is between two places of a file, or up to its end. */
export function readBetween(fd: number, from: number, to: number = fstatSync(fd).size): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(fd, bytes, length, bytes.length - length, from + length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

export interface Segment {
  readonly head: SegmentHead;
  readonly records: readonly JournalRecord[];
}

/** All that a segment holds, up to where it was torn; null: no file, or not even a head. */
export function readSegment(path: string, index: SegmentIndex): Segment | null {
  const fd = openSegment(path, index);
  if (fd === null) return null;
  try {
    const bytes = readBetween(fd, 0);
    const head = readHead(bytes);
    if (head === null) return null;
    return { head, records: Array.from(readRecords(bytes, head.salt), ({ record }) => record) };
  } finally {
    closeSync(fd);
  }
}
