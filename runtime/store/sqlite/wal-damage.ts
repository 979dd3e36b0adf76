/**
 * Finds damage in the write-ahead log of a killed process before SQLite opens it, for SQLite silently drops everything
 * behind the first bad frame (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
 *
 * A frame is good when its salts are those of the log's header and its checksum follows from the frame before it. Behind
 * the last commit of a killed process nothing good follows: at most a torn transaction, which nobody was told of. A good
 * commit behind a bad frame was lost to damage.
 */
import { closeSync, copyFileSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import type { DamageReport } from '../queries.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Read at once, about. */
const CHUNK_BYTES = 4 * 1024 * 1024;
const LITTLE_ENDIAN_SUMS = 0x377f0682;

/** Copies a damaged log and its database aside. Null: there is no damage. */
export function setDamagedAside(path: string, now: number): DamageReport | null {
  const lost = lostCommits(`${path}-wal`);
  if (lost === 0) return null;
  const copy = `${path}.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`;
  const commits = lost === 1 ? '1 commit' : `${lost} commits`;
  const message = `the write-ahead log of ${path} was damaged: ${commits} of the time before the last stop are lost`;
  return { at: now, message, copy: copyAside(path, copy) ? copy : null };
}

function copyAside(path: string, copy: string): boolean {
  try {
    for (const suffix of ['', '-wal']) {
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
    }
    return true;
  } catch {
    return false;
  }
}

/** Good commits behind the first bad frame of a log. */
export function lostCommits(walPath: string): number {
  const file = openSync(walPath, 'r');
  try {
    const header = readAt(file, 0, HEADER_BYTES);
    if (header.length < HEADER_BYTES) return 0;
    const pageBytes = header.readUInt32BE(8) || 65_536;
    return countLost(file, header, FRAME_HEADER_BYTES + pageBytes);
  } finally {
    closeSync(file);
  }
}

function countLost(file: number, header: Buffer, frameBytes: number): number {
  const isLittle = header.readUInt32BE(0) === LITTLE_ENDIAN_SUMS;
  const salts = header.subarray(16, 24);
  let sums: Sums = [header.readUInt32BE(24), header.readUInt32BE(28)];
  let isBroken = !equal(checksum(header.subarray(0, 24), [0, 0], isLittle), sums);
  let lost = 0;
  const { size } = fstatSync(file);
  const step = Math.max(1, Math.floor(CHUNK_BYTES / frameBytes)) * frameBytes;
  for (let at = HEADER_BYTES; at + frameBytes <= size; at += step) {
    const chunk = readAt(file, at, Math.min(step, size - at));
    for (let start = 0; start + frameBytes <= chunk.length; start += frameBytes) {
      const frame = chunk.subarray(start, start + frameBytes);
      const stored: Sums = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
      const good = frame.subarray(8, 16).equals(salts) && equal(frameSums(frame, sums, isLittle), stored);
      if (!good) isBroken = true;
      else if (isBroken && frame.readUInt32BE(4) !== 0) lost++;
      sums = stored;
    }
  }
  return lost;
}

type Sums = readonly [number, number];
const equal = (a: Sums, b: Sums): boolean => a[0] === b[0] && a[1] === b[1];

const frameSums = (frame: Buffer, sums: Sums, isLittle: boolean): Sums =>
  checksum(frame.subarray(FRAME_HEADER_BYTES), checksum(frame.subarray(0, 8), sums, isLittle), isLittle);

/** Of a multiple of 8 bytes, going on from `sums`. */
function checksum(bytes: Buffer, [from1, from2]: Sums, isLittle: boolean): Sums {
  // A copy at the start of a buffer of its own: 32-bit words have to be aligned.
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

function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  for (let got = 1; read < length && got > 0; read += got) got = readSync(file, bytes, read, length - read, at + read);
  return bytes.subarray(0, read);
}
