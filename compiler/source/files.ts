/** The compiler's interface to the file system; injected, so that compiling is a pure function. */

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other';
  /** In bytes. */
  readonly size: number;
  /** Permission bits (`0o777`). */
  readonly mode: number;
  /** Number of hard links. Default: 1. */
  readonly links?: number;
}

/** All paths are absolute. Symbolic links are followed. */
export interface Files {
  /** Returns the whole content. @throws Error with a Node.js `code` if the file cannot be read */
  read(path: string): Uint8Array;
  /** Returns null if the path does not exist or is not accessible. */
  stat(path: string): FileStat | null;
  /** Returns the names in a directory, in any order; empty if it cannot be listed. */
  list(directory: string): readonly string[];
  /** Returns the path with all symbolic links resolved, or null if it does not exist. */
  realpath(path: string): string | null;
}

/** The files that are read. */
export interface Disk {
  readonly files: Files;
  /** Absolute path; the base of relative paths, also in diagnostics. */
  readonly cwd: string;
}

export interface HomeDisk extends Disk {
  /** Absolute path of `<home_dir>`, which may not exist. */
  readonly home: string;
}
