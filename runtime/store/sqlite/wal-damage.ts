/**
 * Finds damage in the write-ahead log of a killed process before SQLite opens it, because SQLite silently drops everything
 * after the first bad frame (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
 *
 * A frame is good when its salts match the log's header and its checksum continues that of the previous frame. After the
 * last commit of a killed process there is at most a torn transaction, which was not acknowledged. A good commit after a
 * bad frame was lost to damage.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { endianness } from 'node:os';
import { dirname } from 'node:path';
import type { DamageReport } from '../queries.ts';
import { isForeignLog, readAt } from './foreign-log.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Approximate number of bytes read at once. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** The magic number of the header; its lowest bit gives the byte order of the checksums. */
const LITTLE_ENDIAN_SUMS = 0x377f0682;
const PAGE_BYTES = 4096;

/** Copies a damaged log and its database aside, or moves a foreign log aside. Null when the log is intact. @param now Unix ms */
export function setDamagedAside(path: string, now: number): DamageReport | null {
  const { lost, pages, pageBytes, salts } = walkLog(`${path}-wal`);
  const checkpointed = checkpointedFrames(`${path}-shm`, salts);
  if (lost === 0) {
    const pageAt = (frame: number): number =>
      HEADER_BYTES + frame * (FRAME_HEADER_BYTES + pageBytes) + FRAME_HEADER_BYTES;
    if (!isForeignLog(path, { pages, checkpointed, pageBytes, pageAt })) return null;
    return setLogAside(path, now, 'belonged to another file, as after a restore: it was not applied');
  }
  const copy = asideName(path, now);
  const commits = lost === 1 ? '1 commit' : `${lost} commits`;
  const message = `the write-ahead log of ${path} was damaged: at most ${commits} of the time before the last stop are lost`;
  const report = { at: now, message, copy: copyAside(path, copy) ? copy : null };
  // The readable part of the log is older than the file: its pages would be of an earlier state than the rest.
  if (pages.length < checkpointed) truncateSync(`${path}-wal`);
  return report;
}

/** Moves the log of a missing database aside, because SQLite would remove it. */
export const setOrphanAside = (path: string, now: number): DamageReport =>
  setLogAside(path, now, 'was left, and the file itself was gone: a new store was begun');

function setLogAside(path: string, now: number, what: string): DamageReport {
  const copy = `${asideName(path, now)}-wal`;
  renameSync(`${path}-wal`, copy);
  rmSync(`${path}-shm`, { force: true });
  return { at: now, message: `the write-ahead log of ${path} ${what}`, copy };
}

/** The path to which a damaged file is copied or moved. @param now Unix ms */
export const asideName = (path: string, now: number): string =>
  `${path}.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`;

/**
 * Number of frames that checkpoints have copied into the file, from the index file; 0 when unknown
 * (https://www.sqlite.org/walformat.html#the_wal_index_file_format).
 */
function checkpointedFrames(shmPath: string, salts: Buffer): number {
  if (!existsSync(shmPath)) return 0;
  const index = readFileSync(shmPath);
  if (index.length < 100 || !index.subarray(32, 40).equals(salts)) return 0;
  return endianness() === 'LE' ? index.readUInt32LE(96) : index.readUInt32BE(96);
}

/** Returns false when there is not enough room for the copy and the store itself. */
function copyAside(path: string, copy: string): boolean {
  const suffixes = ['', '-wal'].filter((suffix) => existsSync(path + suffix));
  try {
    const needed = suffixes.reduce((sum, suffix) => sum + statSync(path + suffix).size, 0);
    const { bavail, bsize } = statfsSync(dirname(path));
    if (bavail * bsize < 2 * needed) return false;
    for (const suffix of suffixes) copyFileSync(path + suffix, copy + suffix);
    return true;
  } catch {
    for (const suffix of suffixes) rmSync(copy + suffix, { force: true });
    return false;
  }
}

export interface WalkedLog {
  /** Number of good commits after the first bad frame or a bad header. */
  readonly lost: number;
  /** Page number of each frame before that, up to the end of a commit: the frames that SQLite reads. */
  readonly pages: readonly number[];
  readonly pageBytes: number;
  readonly salts: Buffer;
}

/** Reads all frames of a log. @throws as node:fs does */
export function walkLog(walPath: string): WalkedLog {
  const file = openSync(walPath, 'r');
  try {
    const bytes = readAt(file, 0, HEADER_BYTES + FRAME_HEADER_BYTES);
    if (bytes.length < HEADER_BYTES + FRAME_HEADER_BYTES)
      return { lost: 0, pages: [], pageBytes: PAGE_BYTES, salts: bytes };
    return walkFrames(file, readHeader(bytes));
  } finally {
    closeSync(file);
  }
}

interface Header {
  readonly isGood: boolean;
  readonly frameBytes: number;
  /**
   * The salts of the current frames; frames from before the last restart of the log, which may follow, have others. With a
   * bad header they are taken from the previous frame.
   */
  readonly salts: Buffer;
  readonly isLittle: boolean;
  /** Checksums that the first frame may continue: one, or two when it is unknown which is right. */
  readonly sums: readonly Sums[];
}

/** With a bad header, the values are taken from the frames and from SQLite's defaults. */
function readHeader(bytes: Buffer): Header {
  const stored = sumsAt(bytes, 24);
  const sumsOf = (little: boolean): Sums => checksum(bytes.subarray(0, 24), [0, 0], little);
  const isStatedLittle = bytes.readUInt32BE(0) === LITTLE_ENDIAN_SUMS;
  const isStated = isStatedLittle || bytes.readUInt32BE(0) === LITTLE_ENDIAN_SUMS + 1;
  const isGood = isStated && equal(stored, sumsOf(isStatedLittle));
  const isLittle = isGood ? isStatedLittle : endianness() === 'LE';
  const frameBytes = FRAME_HEADER_BYTES + (isGood ? bytes.readUInt32BE(8) : PAGE_BYTES);
  const salts = isGood ? bytes.subarray(16, 24) : bytes.subarray(HEADER_BYTES + 8, HEADER_BYTES + 16);
  return { isGood, frameBytes, salts, isLittle, sums: isGood ? [stored] : [stored, sumsOf(isLittle)] };
}

function walkFrames(file: number, { isGood, frameBytes, isLittle, sums: first, ...header }: Header): WalkedLog {
  let { salts } = header;
  let [isBroken, sums, lost, kept] = [!isGood, first, 0, 0];
  const pages: number[] = [];
  const { size } = fstatSync(file);
  const step = Math.max(1, Math.floor(CHUNK_BYTES / frameBytes)) * frameBytes;
  for (let at = HEADER_BYTES; at + frameBytes <= size; at += step) {
    const chunk = readAt(file, at, Math.min(step, size - at));
    for (let start = 0; start + frameBytes <= chunk.length; start += frameBytes) {
      const frame = chunk.subarray(start, start + frameBytes);
      const stored = sumsAt(frame, 16);
      const isOfRun = frame.subarray(8, 16).equals(salts);
      const computed = isOfRun ? sums.map((before) => frameSums(frame, before, isLittle)) : [];
      if (computed.some((sum) => equal(sum, stored))) {
        const endsCommit = frame.readUInt32BE(4) !== 0;
        if (endsCommit && isBroken) lost++;
        if (!isBroken) pages.push(frame.readUInt32BE(0));
        if (endsCommit && !isBroken) kept = pages.length;
        sums = [stored];
      } else {
        isBroken = true;
        // Either the page or its stored checksum is wrong; the next frame continues the right one.
        sums = [stored, ...computed.slice(0, 1)];
      }
      if (!isGood) salts = Buffer.from(frame.subarray(8, 16));
    }
  }
  return { lost, pages: pages.slice(0, kept), pageBytes: frameBytes - FRAME_HEADER_BYTES, salts: header.salts };
}

type Sums = readonly [number, number];
const equal = (a: Sums, b: Sums): boolean => a[0] === b[0] && a[1] === b[1];
const sumsAt = (bytes: Buffer, at: number): Sums => [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];

const frameSums = (frame: Buffer, sums: Sums, isLittle: boolean): Sums =>
  checksum(frame.subarray(FRAME_HEADER_BYTES), checksum(frame.subarray(0, 8), sums, isLittle), isLittle);

/** The checksum of a multiple of 8 bytes, continued from `sums`. */
function checksum(bytes: Buffer, [from1, from2]: Sums, isLittle: boolean): Sums {
  // Copied to a new buffer, because 32-bit words must be aligned.
  const copy = new Uint8Array(bytes);
  if (!isLittle) Buffer.from(copy.buffer).swap32();
  const words = new Uint32Array(copy.buffer);
  let [s1, s2] = [from1 | 0, from2 | 0];
  for (let index = 0; index < words.length; index += 2) {
    s1 = (s1 + (words[index] ?? 0) + s2) | 0;
    s2 = (s2 + (words[index + 1] ?? 0) + s1) | 0;
  }
  return [s1 >>> 0, s2 >>> 0];
}
