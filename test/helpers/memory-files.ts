/** A file system in memory for the compiler's tests: texts or bytes by absolute path, links, permission bits. */
import { dirname } from 'node:path';
import { UnreadableFile } from '../../base/files.ts';
import type { FileStat, Files } from '../../compiler/source/files.ts';

export interface MemoryFile {
  readonly content?: string | Uint8Array;
  /** Default: 0o644. */
  readonly mode?: number;
  /** The absolute path of a symbolic link's target, instead of content. */
  readonly link?: string;
}

export function memoryFiles(entries: Readonly<Record<string, string | Uint8Array | MemoryFile>>): Files {
  const files = new Map<string, MemoryFile>();
  const folders = new Map<string, Set<string>>([['/', new Set()]]);
  for (const [path, entry] of Object.entries(entries)) {
    files.set(path, typeof entry === 'string' || entry instanceof Uint8Array ? { content: entry } : entry);
    for (let at = path; at !== '/'; at = dirname(at)) {
      const names = folders.get(dirname(at)) ?? new Set();
      folders.set(dirname(at), names.add(at.slice(dirname(at).length).replace('/', '')));
    }
  }
  /** Follows links in every part of the path. */
  const real = (path: string, depth = 0): string | null => {
    if (path === '/') return path;
    if (depth > 40) return null;
    const parent = real(dirname(path), depth + 1);
    if (parent === null) return null;
    const here = `${parent === '/' ? '' : parent}/${path.slice(dirname(path).length).replace('/', '')}`;
    const link = files.get(here)?.link;
    if (link !== undefined) return real(link, depth + 1);
    return files.has(here) || folders.has(here) ? here : null;
  };
  const bytes = (file: MemoryFile | undefined): Uint8Array | null => {
    if (file?.content === undefined) return null;
    return typeof file.content === 'string' ? Buffer.from(file.content) : file.content;
  };
  return {
    read(path, isAllowed) {
      if (isAllowed?.(real(path) ?? path) === false) throw new UnreadableFile('EOUTSIDE', path);
      const found = bytes(files.get(real(path) ?? ''));
      if (found === null) throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
      return found;
    },
    stat(path): FileStat | null {
      const at = real(path);
      if (at === null) return null;
      const file = files.get(at);
      if (folders.has(at) && file?.content === undefined) return { kind: 'directory', size: 0, mode: 0o755 };
      return { kind: 'file', size: bytes(file)?.byteLength ?? 0, mode: file?.mode ?? 0o644 };
    },
    list: (directory) => [...(folders.get(real(directory) ?? '') ?? [])],
    realpath: (path) => real(path),
  };
}
