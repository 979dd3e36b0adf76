/** A file system with pending changes, to compile them before they are written. */
import { basename, dirname } from 'node:path';
import type { Files } from './files.ts';

/** @param changes texts by absolute path; files and folders need not exist. New files have mode 0600. */
export function overlayFiles(base: Files, changes: ReadonlyMap<string, string>): Files {
  const bytesOf = (path: string): Uint8Array | null => {
    const text = changes.get(path);
    return text === undefined ? null : new TextEncoder().encode(text);
  };
  return {
    read: (path) => bytesOf(path) ?? base.read(path),
    stat: (path) => {
      const bytes = bytesOf(path);
      const before = base.stat(path);
      return bytes === null ? before : { kind: 'file', size: bytes.length, mode: before?.mode ?? 0o600 };
    },
    list: (folder) => {
      const added = [...changes.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path));
      return [...new Set([...base.list(folder), ...added])];
    },
    realpath: (path) => base.realpath(path) ?? (changes.has(path) ? path : null),
  };
}
