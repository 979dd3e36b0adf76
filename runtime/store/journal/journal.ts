/**
 * Writes the journal: what it holds survives the process, and once it is synced a loss of power. Two segments take turns;
 * one is begun anew when everything in it is safe elsewhere, and keeps its length on the disk, which makes the next sync
 * cheaper.
 */
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { HEAD_BYTES, writeHead, writeRecord } from './format.ts';
import { QuickSync } from './quick-sync.ts';
import type { SegmentIndex } from './segments.ts';
import { removeSegments, segmentPath } from './segments.ts';

/** A segment is left for the other one when it has come near to this length, in bytes. */
const SEGMENT_BYTES = 2 * 1024 * 1024;
const NEAR = 64 * 1024;
/** Nearly every record fits in, in bytes. */
const ROOM_BYTES = 128 * 1024;
/** What a new file is written in, in bytes. */
const PAGE_BYTES = 4096;

export interface JournalOptions {
  /** Of the database. */
  readonly path: string;
  /** Whose journal it is: 32 hexadecimal digits. */
  readonly store: string;
  /** Number of the last record that was ever written. */
  readonly last: number;
  /** A random 32-bit number. */
  readonly salt: () => number;
  readonly segmentBytes?: number;
}

interface OpenSegment {
  readonly fd: number;
  readonly index: SegmentIndex;
  readonly salt: number;
  /** Where the next record goes. */
  end: number;
}

/** Where a record ends: what a reader needs to find it. */
export interface Place {
  readonly number: number;
  readonly segment: SegmentIndex;
  readonly end: number;
}

export class Journal {
  private readonly options: JournalOptions;
  private readonly segmentBytes: number;
  private current: OpenSegment | null = null;
  private readonly files: (number | null)[] = [null, null];
  /** Of each segment. */
  private readonly lastIn: [number, number] = [0, 0];
  private last: number;
  private readonly unsynced = new Set<number>();
  private readonly disk = new QuickSync();
  /** Where records are laid out, one after the other. */
  private readonly room = Buffer.allocUnsafeSlow(ROOM_BYTES);

  constructor(options: JournalOptions) {
    this.options = options;
    this.segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.last = options.last;
  }

  get isLong(): boolean {
    return this.current !== null && this.current.end >= this.segmentBytes - NEAR;
  }

  /** Whether all that the other segment holds is safe elsewhere, as everything up to this number is. */
  canTurn(safe: number): boolean {
    return this.lastIn[this.other] <= safe;
  }

  /** Goes on in the other segment. Throws as `append` does. */
  turn(): void {
    this.begin(this.other);
  }

  /** @throws what node:fs throws; nothing of the record is kept then. */
  append(text: string): Place {
    const segment = this.current ?? this.begin(0);
    const number = this.last + 1;
    const bytes = writeRecord({ number, text }, segment.salt, this.room);
    writeAll(segment.fd, bytes, segment.end);
    segment.end += bytes.length;
    this.last = number;
    this.lastIn[segment.index] = number;
    this.unsynced.add(segment.fd);
    return { number, segment: segment.index, end: segment.end };
  }

  /** Brings to the disk what was appended, and calls back before it returns when the disk is quick. */
  sync(done: (error: Error | null) => void): void {
    const [fd] = this.unsynced;
    if (fd === undefined) {
      done(null);
      return;
    }
    this.unsynced.delete(fd);
    this.disk.sync(fd, (error) => {
      if (error !== null || this.unsynced.size === 0) done(error);
      else this.sync(done);
    });
  }

  /** `remove`: all of it is safe elsewhere. */
  close(remove: boolean): void {
    for (const fd of this.files.splice(0)) if (fd !== null) closeSync(fd);
    if (remove) removeSegments(this.options.path);
  }

  private get other(): SegmentIndex {
    return this.current?.index === 0 ? 1 : 0;
  }

  private begin(index: SegmentIndex): OpenSegment {
    const { path, store, salt: random } = this.options;
    const salt = random();
    const fd = this.files[index] ?? createFile(segmentPath(path, index), this.segmentBytes);
    this.files[index] = fd;
    writeAll(fd, writeHead({ salt, store }), 0);
    this.current = { fd, index, salt, end: HEAD_BYTES };
    return this.current;
  }
}

/**
 * At its full length from the start: a sync of what changes no length need not wait for the file system's own records. A
 * new file is on the disk only once its folder is.
 */
function createFile(path: string, bytes: number): number {
  const fd = openSync(path, 'w', 0o600);
  try {
    writeInPages(fd, bytes);
    const folder = openSync(dirname(path), 'r');
    fsyncSync(folder);
    closeSync(folder);
    return fd;
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * Page by page: what is written at once may be one large piece in the memory of the system, which goes through all of it
 * whenever a few bytes of it change.
 */
function writeInPages(fd: number, bytes: number): void {
  const page = Buffer.alloc(PAGE_BYTES);
  for (let at = 0; at < bytes; at += PAGE_BYTES) writeAll(fd, page.subarray(0, bytes - at), at);
}

function writeAll(fd: number, bytes: Buffer, at: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(fd, bytes, written, bytes.length - written, at + written);
}
