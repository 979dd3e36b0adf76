/** Tells by one `stat` whether a file changed, for the files that are checked before requests are routed. */
import type { FileStamp } from '../platform/node-files.ts';

/** Returns undefined for a missing file; throws as node:fs does. */
export type StatFile = (path: string) => FileStamp | undefined;

/**
 * Younger than this, in ms, a file may change again without a trace: file systems keep times in steps of some ms, and
 * an inode freed by one rename may be taken by the next.
 */
const SETTLE_MS = 50;

/** What is known of a file that was read. */
export class FileVersion {
  private mtimeMs = Number.NaN;
  private ctimeMs = Number.NaN;
  private size = Number.NaN;
  private ino = Number.NaN;
  private settled = false;

  /** Whether the file may differ from what it was at the last `note`. `now`: Unix ms. */
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

  /** Remembers the file about to be read: a change during the reading then counts as one after it. */
  note(stat: FileStamp | undefined, now: number): void {
    this.mtimeMs = stat?.mtimeMs ?? Number.NaN;
    this.ctimeMs = stat?.ctimeMs ?? Number.NaN;
    this.size = stat?.size ?? Number.NaN;
    this.ino = stat?.ino ?? Number.NaN;
    this.settled = stat === undefined || Math.abs(now - stat.ctimeMs) >= SETTLE_MS;
  }
}
