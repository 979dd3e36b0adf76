/**
 * Reads the log that format 5 kept beside its tables: changes that a killed server of that version had acknowledged but not
 * written to the tables. All numbers are little-endian; the CRC of a record starts from the salt of its segment.
 *
 *     segment = head record*
 *     head    = "HWJ1"  salt: u32  store: 16 bytes  CRC-32 of the 24 bytes before: u32
 *     record  = CRC-32 of the rest: u32  length of the text: u32  number: f64  text: UTF-8
 *
 * The text of a record is lines: a dispatch, or the end of one.
 *
 *     +ref,expiry of the delivery id,accepted,cap     -ref,state,at,start of the run,number of steps
 *     dispatch                                        reason, answer, each step
 */
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { Dispatch } from '../../../../schemas/generated/types.ts';
import type { Ref, Step } from '../../mutations.ts';
import type { FinalState } from '../../states.ts';

const HEAD_BYTES = 28;
const RECORD_HEAD_BYTES = 16;

export interface LoggedDispatch {
  readonly kind: 'dispatch';
  readonly ref: Ref;
  readonly expires_at: number | null;
  readonly accepted_at: number;
  readonly max_concurrent: number | null;
  readonly dispatch: Dispatch;
  /** The JSON of `dispatch`. */
  readonly body: string;
}

export interface LoggedEnd {
  readonly kind: 'end';
  readonly ref: Ref;
  readonly to: FinalState;
  readonly at: number;
  readonly started_at: number | null;
  readonly reason: string | null;
  /** JSON. */
  readonly answer: string | null;
  readonly steps: readonly Step[];
}

export interface LogRecord {
  readonly number: number;
  readonly entries: readonly (LoggedDispatch | LoggedEnd)[];
}

export interface Segment {
  readonly file: string;
  /** Id of the store that the log belongs to; null when its head is bad. */
  readonly store: string | null;
  /** All good records, including those after a bad one. */
  readonly records: readonly LogRecord[];
  /** The head is bad, or a record before a good one. A torn end alone is normal after a kill. */
  readonly isDamaged: boolean;
}

/** Null when the segment was never started. */
export function readSegment(file: string): Segment | null {
  const bytes = readFileSync(file);
  const head = bytes.subarray(0, HEAD_BYTES);
  if (head.length < HEAD_BYTES || head.every((byte) => byte === 0)) return null;
  const isHeadGood = head.toString('latin1', 0, 4) === 'HWJ1' && head.readUInt32LE(24) === crc32(head.subarray(0, 24));
  let isDamaged = !isHeadGood;
  const records: LogRecord[] = [];
  for (let at = HEAD_BYTES, end = at; at + RECORD_HEAD_BYTES <= bytes.length; ) {
    const record = readRecord(bytes, at, head.readUInt32LE(4));
    if (record === null) at++;
    else {
      records.push(record);
      isDamaged ||= at !== end;
      end = at = at + record.length;
    }
  }
  return { file, store: isHeadGood ? head.toString('hex', 8, 24) : null, records, isDamaged };
}

/** Null when there is no good record at this offset. */
function readRecord(bytes: Buffer, at: number, salt: number): (LogRecord & { readonly length: number }) | null {
  const number = bytes.readDoubleLE(at + 8);
  const length = RECORD_HEAD_BYTES + bytes.readUInt32LE(at + 4);
  if (!Number.isSafeInteger(number) || number < 1 || at + length > bytes.length) return null;
  if (bytes.readUInt32LE(at) !== crc32(bytes.subarray(at + 4, at + length), salt)) return null;
  return { number, length, entries: readEntries(bytes.toString('utf8', at + RECORD_HEAD_BYTES, at + length)) };
}

function readEntries(text: string): readonly (LoggedDispatch | LoggedEnd)[] {
  const lines = text.split('\n');
  const entries: (LoggedDispatch | LoggedEnd)[] = [];
  // The last line is empty.
  for (let at = 0; at < lines.length - 1; ) {
    const head = lines[at] ?? '';
    const fields = head.slice(1).split(',');
    const isDispatch = head.startsWith('+');
    const next = at + (isDispatch ? 2 : 3 + Number(fields[4]));
    entries.push(isDispatch ? readDispatch(fields, lines[at + 1] ?? '') : readEnd(fields, lines.slice(at + 1, next)));
    at = next;
  }
  return entries;
}

const numberOf = (field: string | undefined): number | null =>
  field === undefined || field === 'null' ? null : Number(field);

function readDispatch([ref, expiry, now, cap]: readonly string[], body: string): LoggedDispatch {
  const dispatch = JSON.parse(body) as Dispatch;
  const times = { expires_at: numberOf(expiry), accepted_at: Number(now) };
  return { kind: 'dispatch', ref: Number(ref), ...times, max_concurrent: numberOf(cap), dispatch, body };
}

function readEnd([ref, to, at, started]: readonly string[], lines: readonly string[]): LoggedEnd {
  const [reason = 'null', answer = 'null', ...steps] = lines;
  return {
    ...{ kind: 'end', ref: Number(ref), to: to as FinalState, at: Number(at), started_at: numberOf(started) },
    reason: JSON.parse(reason) as string | null,
    answer: answer === 'null' ? null : answer,
    steps: steps.map((step) => JSON.parse(step) as Step),
  };
}
