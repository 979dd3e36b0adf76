/**
 * Whether a write-ahead log belongs to the file beside it. After a restore it may be what a kill has left of the file
 * before; SQLite cannot tell, and would write it over the restored one.
 */
import { closeSync, openSync } from 'node:fs';
import { readAt } from './read-at.ts';

export interface LoggedPages {
  /** Number of the page in each frame, in their order. */
  readonly pages: readonly number[];
  /** Frames that checkpoints had brought into the file, from the first on. */
  readonly checkpointed: number;
  readonly pageBytes: number;
  /** Offset of a frame's page in the log. */
  readonly pageAt: (frame: number) => number;
}

/**
 * True: of the pages that had been checkpointed into the file, most are not what stands there. Where none had been, nothing can
 * be said: that is so until the first checkpoint of the log, a second after its first commit.
 */
export function isForeignLog(path: string, { pages, checkpointed, pageBytes, pageAt }: LoggedPages): boolean {
  // A checkpoint that was cut off may have written later versions of a page.
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
