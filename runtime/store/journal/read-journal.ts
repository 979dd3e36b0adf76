/** Reads the journal while it is being written, record after record. */
import { closeSync } from 'node:fs';
import type { JournalRecord } from './format.ts';
import { readHead, readRecord, readRecords } from './format.ts';
import type { Place } from './journal.ts';
import type { SegmentIndex } from './segments.ts';
import { openSegment, readBetween, SEGMENTS } from './segments.ts';

/** What was read of a segment. */
interface Piece {
  readonly segment: SegmentIndex;
  readonly fd: number;
  readonly salt: number;
  readonly bytes: Buffer;
  /** In `bytes`. */
  at: number;
  /** Of the end of `bytes` in the file. */
  readonly end: number;
}

export class JournalReader {
  private readonly path: string;
  private readonly files = new Map<SegmentIndex, number>();
  /** The last record that was read. */
  private number: number;
  /** Null: to be looked for. */
  private piece: Piece | null = null;

  /** @param after the first record to be read is the one behind this number */
  constructor(path: string, after: number) {
    this.path = path;
    this.number = after;
  }

  /** Goes back, or on, to the record behind this number. */
  restart(after: number): void {
    this.number = after;
    this.piece = null;
  }

  /**
   * The next record. @param upTo is written: the next one is this or one before it
   * @throws Error when it is not there, and what node:fs throws
   */
  next(upTo: Place): JournalRecord {
    const record = this.inPiece() ?? this.readOn(upTo) ?? this.lookFor();
    if (record === null) throw new Error(`record ${this.number + 1} is not in the journal`);
    this.number = record.number;
    return record;
  }

  close(): void {
    for (const fd of this.files.values()) closeSync(fd);
    this.files.clear();
  }

  private inPiece(): JournalRecord | null {
    const { piece } = this;
    if (piece === null) return null;
    const read = readRecord(piece.bytes, piece.at, piece.salt);
    if (read === null || read.record.number !== this.number + 1) return null;
    piece.at = read.end;
    return read.record;
  }

  /** What has been written to the segment since. */
  private readOn({ segment, end }: Place): JournalRecord | null {
    const { piece } = this;
    if (piece === null || piece.segment !== segment) return null;
    const from = piece.end - (piece.bytes.length - piece.at);
    this.piece = { ...piece, bytes: readBetween(piece.fd, from, end), at: 0, end };
    return this.inPiece();
  }

  /** Anywhere: at the start of a segment, mostly. */
  private lookFor(): JournalRecord | null {
    const wanted = this.number + 1;
    for (const segment of SEGMENTS) {
      const fd = this.open(segment);
      if (fd === null) continue;
      const bytes = readBetween(fd, 0);
      const head = readHead(bytes);
      if (head === null) continue;
      for (const { record, at } of readRecords(bytes, head.salt)) {
        if (record.number !== wanted) continue;
        this.piece = { segment, fd, salt: head.salt, bytes, at, end: bytes.length };
        return this.inPiece();
      }
    }
    return null;
  }

  private open(segment: SegmentIndex): number | null {
    const known = this.files.get(segment) ?? openSegment(this.path, segment);
    if (known !== null) this.files.set(segment, known);
    return known;
  }
}
