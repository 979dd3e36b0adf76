/** Provides the files of the page: the typed configuration, and the shipped catalog that the build includes. */
import { dirname } from 'node:path';
import type { Files } from '../../../../compiler/source/files.ts';

/** The parsed JSON files of `catalog/` by path; the build defines it. */
declare const SHIPPED: Readonly<Record<string, unknown>>;

/** Creates a file system in memory. @param files texts by absolute path @param mode permission bits of all files */
export function memoryFiles(files: Readonly<Record<string, string>>, mode: number): Files {
  const texts = new Map(Object.entries(files));
  const children = new Map<string, Set<string>>();
  for (const path of texts.keys()) {
    for (let at = path; at !== '/'; at = dirname(at)) {
      const names = children.get(dirname(at)) ?? new Set();
      children.set(dirname(at), names.add(at.slice(at.lastIndexOf('/') + 1)));
    }
  }
  return {
    read(path) {
      const text = texts.get(path);
      if (text === undefined) throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
      return new TextEncoder().encode(text);
    },
    stat(path) {
      const text = texts.get(path);
      if (text !== undefined) return { kind: 'file', size: new TextEncoder().encode(text).length, mode };
      return children.has(path) ? { kind: 'directory', size: 0, mode: 0o700 } : null;
    },
    list: (folder) => [...(children.get(folder) ?? [])],
    realpath: (path) => (texts.has(path) || children.has(path) ? path : null),
  };
}

/** The catalog is at `/catalog`. */
export const shippedFiles: Files = memoryFiles(
  Object.fromEntries(Object.entries(SHIPPED).map(([path, value]) => [`/catalog/${path}`, JSON.stringify(value)])),
  0o644,
);
