/** Records the paths that a compile reads, so that a change to any of them can trigger the next compile. */
import type { Files } from './files.ts';

export interface RecordedFiles {
  readonly files: Files;
  /** Absolute and sorted. */
  paths(): readonly string[];
}

export function recordFiles(files: Files): RecordedFiles {
  const seen = new Set<string>();
  const note = <T>(look: (path: string) => T) => {
    return (path: string): T => {
      seen.add(path);
      return look(path);
    };
  };
  return {
    files: {
      read: note(files.read),
      stat: note(files.stat),
      list: note(files.list),
      realpath: (path) => files.realpath(path),
    },
    paths: () => [...seen].sort(),
  };
}
