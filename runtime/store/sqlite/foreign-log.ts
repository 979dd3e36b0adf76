/**
 * Detects a write-ahead log that does not belong to the database file beside it. After a restore it may be left over from
 * the previous file, whose process was killed; SQLite cannot tell, and would write it over the restored file.
 */
import { closeSync, openSync, readSync } from 'node:fs';

export interface LoggedPages {
  /** The page number of each frame, in order. */
  readonly pages: readonly number[];
  /** Number of frames, from the first, that checkpoints have copied into the file. */
  readonly checkpointed: number;
  readonly pageBytes: number;
  /** Offset of a frame's page in the log. */
  readonly pageAt: (frame: number) => number;
}

/**
 * True when most of the pages that were checkpointed from the log differ from those in the file. False when none was
 * checkpointed, as until a second after the first commit of a log: then this cannot be decided.
 */
export function isForeignLog(path: string, { pages, checkpointed, pageBytes, pageAt }: LoggedPages): boolean {
  // An interrupted checkpoint may have written later versions of a page.
  const later = new Set(pages.slice(checkpointed));
  const latest = new Map(pages.slice(0, checkpointed).map((page, frame) => [page, frame]));
  const [file, log] = [openSync(path, 'r'), openSync(`${path}-wal`, 'r')];
  try {
    let [same, other] = [0, 0];
    for (const [page, frame] of latest) {
      if (later.has(page)) continue;
      const stored = readAt(file, (page - 1) * pageBytes, pageBytes);
      if (stored.equals(readAt(log, pageAt(frame), pageBytes))) same++;
      else other++;
    }
    return other > same;
  } finally {
    closeSync(file);
    closeSync(log);
  }
}

export function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  for (let got = 1; read < length && got > 0; read += got) got = readSync(file, bytes, read, length - read, at + read);
  return bytes.subarray(0, read);
}
