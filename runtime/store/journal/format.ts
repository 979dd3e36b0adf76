/**
 * The bytes of the journal, for whoever writes it and whoever reads it.
 *
 *     segment = head record*
 *     head    = "HWJ1"  salt: u32  store: 16 bytes  CRC-32 of the 24 bytes before: u32
 *     record  = CRC-32 of the rest: u32  length of the text: u32  number: f64  text: UTF-8
 *
 * All numbers are little-endian. The CRC of a record begins with the salt of its segment, which is another one each time
 * the segment is used: what an earlier use has left behind never reads as a record of this one.
 */
import { crc32 } from 'node:zlib';

const MAGIC = Buffer.from('HWJ1');
const SALT_AT = 4;
const STORE_AT = 8;
const STORE_BYTES = 16;
const HEAD_CRC_AT = STORE_AT + STORE_BYTES;
export const HEAD_BYTES = HEAD_CRC_AT + 4;

const LENGTH_AT = 4;
const NUMBER_AT = 8;
const TEXT_AT = 16;

export interface SegmentHead {
  readonly salt: number;
  /** Whose journal it is: 32 hexadecimal digits. */
  readonly store: string;
}

export function writeHead({ salt, store }: SegmentHead): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(salt, SALT_AT);
  bytes.write(store, STORE_AT, STORE_BYTES, 'hex');
  bytes.writeUInt32LE(crc32(bytes.subarray(0, HEAD_CRC_AT)), HEAD_CRC_AT);
  return bytes;
}

/** Null: not the head of a segment, or a torn one. */
export function readHead(bytes: Buffer): SegmentHead | null {
  if (bytes.length < HEAD_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  if (bytes.readUInt32LE(HEAD_CRC_AT) !== crc32(bytes.subarray(0, HEAD_CRC_AT))) return null;
  return { salt: bytes.readUInt32LE(SALT_AT), store: bytes.toString('hex', STORE_AT, HEAD_CRC_AT) };
}

export interface JournalRecord {
  /** Grows by one from record to record, over all segments. */
  readonly number: number;
  readonly text: string;
}

/** UTF-8 has at most so many bytes for a UTF-16 unit. */
const UNIT_BYTES = 3;

/** @param room where the record is laid out when it fits for certain: whoever uses that again overwrites what this answers */
export function writeRecord({ number, text }: JournalRecord, salt: number, room?: Buffer): Buffer {
  const most = TEXT_AT + text.length * UNIT_BYTES;
  const bytes = room !== undefined && most <= room.length ? room : Buffer.allocUnsafe(most);
  const length = bytes.write(text, TEXT_AT, 'utf8');
  bytes.writeUInt32LE(length, LENGTH_AT);
  bytes.writeDoubleLE(number, NUMBER_AT);
  const end = TEXT_AT + length;
  bytes.writeUInt32LE(crc32(bytes.subarray(LENGTH_AT, end), salt), 0);
  return bytes.subarray(0, end);
}

/** A record and where the next one begins; null: there is none at `at`, or not all of it. */
export function readRecord(
  bytes: Buffer,
  at: number,
  salt: number,
): { readonly record: JournalRecord; readonly end: number } | null {
  if (at + TEXT_AT > bytes.length) return null;
  const end = at + TEXT_AT + bytes.readUInt32LE(at + LENGTH_AT);
  if (end > bytes.length || bytes.readUInt32LE(at) !== crc32(bytes.subarray(at + LENGTH_AT, end), salt)) return null;
  return {
    record: { number: bytes.readDoubleLE(at + NUMBER_AT), text: bytes.toString('utf8', at + TEXT_AT, end) },
    end,
  };
}

/** The records of a segment from its start on, each with its place, up to where there is none or it was torn. */
export function* readRecords(segment: Buffer, salt: number): Generator<{ record: JournalRecord; at: number }> {
  for (let at = HEAD_BYTES; ; ) {
    const read = readRecord(segment, at, salt);
    if (read === null) return;
    yield { record: read.record, at };
    at = read.end;
  }
}
