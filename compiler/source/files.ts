/** The file system as the compiler sees it: injected, so that a compile is a pure function of what it is given. */

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other';
  /** Bytes. */
  readonly size: number;
  /** Permission bits (`0o777`). */
  readonly mode: number;
  /** How many names (hard links) it has; absent: one. */
  readonly links?: number;
}

/** Absolute paths only. Symbolic links are followed. */
export interface Files {
  /** The whole content. @throws Error with a Node.js `code` when it cannot be read. */
  read(path: string): Uint8Array;
  /** null: there is nothing at this path, or it is not readable. */
  stat(path: string): FileStat | null;
  /** Names in a directory, in any order; empty when it cannot be listed. */
  list(directory: string): readonly string[];
  /** The path with every symbolic link resolved; null when it does not exist. */
  realpath(path: string): string | null;
}
