/**
 * Finds damage in the write-ahead log of a killed process before SQLite opens it, because SQLite silently drops
 * everything after the first bad frame (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
 *
 * A frame is good when its salts match the log's header and its checksum continues that of the previous frame. After
 * the last commit of a killed process there is at most a torn transaction, which was not acknowledged. A good commit
 * after a bad frame was lost to damage.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { endianness } from 'node:os';
import { dirname } from 'node:path';
import type { DamageReport } from '../../../runtime/store/queries.ts';
import type { Connection } from '../../../runtime/store/sqlite/driver.ts';
import { logMarkPath } from '../../../runtime/store/store-path.ts';
import type { FileState, StoreLife, StoreNote } from './store-note.ts';
import { readLife, readSealed, writeSealed } from './store-note.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Approximate number of bytes read at once. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** The magic number of the header; its lowest bit gives the byte order of the checksums. */
const LITTLE_ENDIAN_SUMS = 0x377f0682;
const PAGE_BYTES = 4096;

/**
 * Copies a damaged log and its database, or renames a foreign log. Null when nothing is missing.
 * @param now Unix ms @param life the entry of the file alone: while it is open, there is a log, whose end its index
 * knows @param state of the file alone
 */
export function quarantineDamagedLog(
  path: string,
  now: number,
  life: StoreLife | null | undefined,
  state: FileState | undefined,
): DamageReport | null {
  const isOpen = life?.is_open === true;
  const { lost, pages, salts, states } = walkLog(`${path}-wal`);
  const isOther = (logSalts: Buffer): boolean => !!life && isOtherLog(path, life, logSalts.readUInt32BE(0));
  if (pages.length > 0 && (isOther(salts) || isOtherState(state, states)))
    return quarantineLog(
      path,
      now,
      `the write-ahead log of ${path} belongs to another state of the file and was not applied: events acknowledged shortly before the last stop may be lost`,
    );
  const index = readIndex(`${path}-shm`);
  const isOfLog = index?.salts.equals(salts) === true;
  const checkpointed = isOfLog ? index.checkpointed : 0;
  // Salts grow with each restart of the log. An index with smaller salts is older; the index of another log says
  // nothing about this one.
  const isGrown = index !== null && Buffer.compare(index.salts.subarray(0, 4), salts.subarray(0, 4)) > 0;
  const isLater = index !== null && (isOfLog || (isGrown && !isOther(index.salts)));
  // After a kill in the first commit to an emptied log, the index has no frames.
  const isEmpty = pages.length === 0 && index?.frames !== 0;
  const isEndGone = isLater ? index.frames > (isOfLog ? pages.length : 0) : isOpen && isEmpty;
  if (lost === 0 && !isEndGone) return null;
  const copy = asideName(path, now);
  const commits = lost === 1 ? '1 commit' : `${lost} commits`;
  const message =
    lost === 0
      ? `the end of the write-ahead log of ${path} is missing: events acknowledged shortly before the last stop may be lost`
      : `the write-ahead log of ${path} was damaged: at most ${commits} from before the last stop are lost`;
  const report = { at: now, message, copy: copyAside(path, copy) ? copy : null };
  // The readable part of the log is older than the file: its pages would be of an earlier state than the rest.
  if (pages.length < checkpointed) truncateSync(`${path}-wal`);
  return report;
}

/** Renames the log beside a file that is not the one that this home had. */
export const quarantineForeignLog = (path: string, now: number): DamageReport =>
  quarantineLog(
    path,
    now,
    `${path} is an older copy, or belongs to another home: it lacks events that this home has acknowledged`,
  );

function quarantineLog(path: string, now: number, message: string): DamageReport {
  rmSync(`${path}-shm`, { force: true });
  const isLogLeft = existsSync(`${path}-wal`);
  // The report is shown until the copy is removed. Without a log, a note is the copy.
  const copy = `${asideName(path, now)}${isLogLeft ? '-wal' : '.txt'}`;
  if (isLogLeft) renameSync(`${path}-wal`, copy);
  else writeFileSync(copy, `${message}\n`, { mode: 0o600 });
  return { at: now, message, copy };
}

/** The path to which a damaged file is copied or moved. @param now Unix ms */
const asideName = (path: string, now: number): string =>
  `${path}.damaged-${new Date(now).toISOString().replaceAll(':', '-')}`;

interface LogIndex {
  readonly salts: Buffer;
  /** The number of committed frames, and of those that checkpoints have copied into the file. */
  readonly frames: number;
  readonly checkpointed: number;
}

/** Null when it is missing or was being written (https://www.sqlite.org/walformat.html#the_wal_index_file_format). */
function readIndex(shmPath: string): LogIndex | null {
  if (!existsSync(shmPath)) return null;
  const index = readFileSync(shmPath);
  const isWhole = index.length >= 100 && index[12] === 1 && index.subarray(0, 48).equals(index.subarray(48, 96));
  if (!isWhole) return null;
  const numberAt = (at: number): number => (endianness() === 'LE' ? index.readUInt32LE(at) : index.readUInt32BE(at));
  const [frames, checkpointed] = [numberAt(16), numberAt(96)];
  return { salts: index.subarray(32, 40), frames, checkpointed: checkpointed > frames ? 0 : checkpointed };
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

interface WalkedLog {
  /** Number of good commits after the first bad frame or a bad header. */
  readonly lost: number;
  /** Page number of each frame before that, up to the end of a commit: the frames that SQLite reads. */
  readonly pages: readonly number[];
  /** The states of the file in those of them that are its first page. */
  readonly states: readonly FileState[];
  readonly salts: Buffer;
}

/** Reads all frames of a log. @throws as node:fs does */
export function walkLog(walPath: string): WalkedLog {
  if (!existsSync(walPath)) return { lost: 0, pages: [], states: [], salts: Buffer.alloc(8) };
  const file = openSync(walPath, 'r');
  try {
    const bytes = readAt(file, 0, HEADER_BYTES + FRAME_HEADER_BYTES);
    if (bytes.length < HEADER_BYTES + FRAME_HEADER_BYTES) return { lost: 0, pages: [], states: [], salts: bytes };
    return walkFrames(file, readHeader(bytes));
  } finally {
    closeSync(file);
  }
}

interface Header {
  readonly isGood: boolean;
  readonly frameBytes: number;
  /**
   * The salts of the current frames. Frames from before the last restart of the log, which may follow, have others.
   * With a bad header, the salts of the previous frame are used.
   */
  readonly salts: Buffer;
  readonly isLittle: boolean;
  /** Checksums that the first frame may continue: one, or two when it is unknown which is correct. */
  readonly sums: readonly Sums[];
}

/** With a bad header, the values come from the frames and from SQLite's defaults. */
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
  let [isBroken, sums, lost, kept, keptStates] = [!isGood, first, 0, 0, 0];
  const [pages, states]: [number[], FileState[]] = [[], []];
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
        if (!isBroken && pages.at(-1) === 1) states.push(stateOf(frame.subarray(FRAME_HEADER_BYTES)));
        if (endsCommit && !isBroken) [kept, keptStates] = [pages.length, states.length];
        sums = [stored];
      } else {
        isBroken = true;
        // Either the page or its stored checksum is wrong; the next frame continues the right one.
        sums = [stored, ...computed.slice(0, 1)];
      }
      if (!isGood) salts = Buffer.from(frame.subarray(8, 16));
    }
  }
  return { lost, pages: pages.slice(0, kept), states: states.slice(0, keptStates), salts: header.salts };
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

/*
 * Detects a write-ahead log that does not belong to the database file beside it, because a copy was put in place by hand.
 * SQLite cannot detect this, and would write it over the copy.
 *
 * Each commit has a number, in the first page (createNumbering). The file has that of the last commit before the log, or, once
 * the log was checkpointed, one of those in the log. A copy by SQLite (VACUUM INTO) has another schema number.
 */

/** @param page the first page of a file (https://www.sqlite.org/fileformat2.html#the_database_header) */
const stateOf = (page: Buffer): FileState => ({
  schema: page.readUInt32BE(40),
  format: page.readUInt32BE(60),
  commit: page.readUInt32BE(68),
});

/**
 * True if the log with these states was not written over the file. A log may begin with a change of the schema, as the migration
 * of its file, which has no separate number.
 */
function isOtherState(file: FileState | undefined, states: readonly FileState[]): boolean {
  const [first] = states;
  if (file === undefined || first === undefined || file.format < first.format) return false;
  const { schema, commit } = file;
  const isBase = schema <= first.schema && [commit, (commit + 1) >>> 0].includes(first.commit);
  return !isBase && !states.some((state) => state.schema === schema && state.commit === commit);
}

function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  for (let got = 1; read < length && got > 0; read += got) got = readSync(file, bytes, read, length - read, at + read);
  return bytes.subarray(0, read);
}

/*
 * Determines whether a log is the one with which the store was last written.
 *
 *   state.db-wal.id    id and starts of the store, the first salt of the log, and a checksum
 *
 * A connection that writes begins its first log with random salts, or continues the log that it finds. Each restart of
 * the log adds one to the first salt (https://www.sqlite.org/fileformat2.html#walreset). So as long as one connection
 * writes, the salt only grows from the marked one. The mark is removed before another connection that may write is
 * opened, and written after its first commit. A kill between the two leaves no mark, and then any log is accepted.
 */

/** Offset and number of bytes of the first salt in the header of a log. */
const SALT = { at: 16, bytes: 4 } as const;
/** A log restarts at most once a second, so this lasts for four years. Of 32 foreign logs, one passes. */
const MOST_RESTARTS = 2 ** 27;
/** The last word of a mark that is removed before the file is closed; earlier versions left theirs. */
const MARKS_OPEN = 'open';

/**
 * Marks the log in which `db` has committed. Returns false when that is impossible for now, as on a full disk; the
 * commit stays valid.
 */
export function markLog(db: Connection, path: string): boolean {
  try {
    const life = readLife(db);
    const salt = readSalt(`${path}-wal`);
    if (!life || salt === null) return false;
    writeSealed(logMarkPath(path), [life.id, life.starts, salt, MARKS_OPEN]);
    return true;
  } catch {
    return false;
  }
}

/** True if the file with this entry is a closed copy: a file whose log has a mark is open. */
export function isClosedBesideMark(path: string, life: StoreLife | null | undefined): boolean {
  const [id, starts, , marks] = readSealed(logMarkPath(path)) ?? [];
  return life?.is_open === false && marks === MARKS_OPEN && id === life.id && Number(starts) === life.starts;
}

function readSalt(walPath: string): number | null {
  const file = openSync(walPath, 'r');
  try {
    const bytes = readAt(file, SALT.at, SALT.bytes);
    return bytes.length < SALT.bytes ? null : bytes.readUInt32BE();
  } finally {
    closeSync(file);
  }
}

/**
 * True if a log with this first salt is not that of the store. A mark of another file, such as of another home, only
 * identifies its own log as foreign, and says nothing about others. @param life the entry of the file without its log
 */
function isOtherLog(path: string, life: StoreNote, salt: number): boolean {
  const words = readSealed(logMarkPath(path));
  if (words === null) return false;
  const [id, starts, first] = words;
  const isOfMark = (salt - Number(first)) >>> 0 < MOST_RESTARTS;
  return isOfMark !== (id === life.id && Number(starts) === life.starts);
}
