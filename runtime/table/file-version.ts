/** Detects with one `stat` whether a file changed, for the files that are checked before requests are routed. */
import type { FileStamp } from '../platform/node-files.ts';

/** Returns undefined for a missing file; throws as node:fs does. */
export type StatFile = (path: string) => FileStamp | undefined;

/**
 * A file younger than this, in ms, may change again with the same stamp: file systems store times in steps of several
 * ms, and an inode freed by one rename may be reused by the next.
 */
const SETTLE_MS = 50;

/** The stamp of a file as it was last read. */
export class FileVersion {
  private mtimeMs = Number.NaN;
  private ctimeMs = Number.NaN;
  private size = Number.NaN;
  private ino = Number.NaN;
  private settled = false;

  /** Whether the file may have changed since the last `note`. */
  differs(stat: FileStamp | undefined): boolean {
    if (stat === undefined) return !Number.isNaN(this.size);
    return (
      !this.settled ||
      stat.ino !== this.ino ||
      stat.size !== this.size ||
      stat.mtimeMs !== this.mtimeMs ||
      stat.ctimeMs !== this.ctimeMs
    );
  }

  /** Call before reading the file, so that a change during the read counts as a later one. @param now Unix ms */
  note(stat: FileStamp | undefined, now: number): void {
    this.mtimeMs = stat?.mtimeMs ?? Number.NaN;
    this.ctimeMs = stat?.ctimeMs ?? Number.NaN;
    this.size = stat?.size ?? Number.NaN;
    this.ino = stat?.ino ?? Number.NaN;
    this.settled = stat === undefined || Math.abs(now - stat.ctimeMs) >= SETTLE_MS;
  }
}
