/** Finds the files a pattern names, for `--config` and `include:`. */
import { basename, dirname, join, resolve } from 'node:path';
import picomatch from 'picomatch';
import type { Files } from './files.ts';

/** Directories below a pattern's fixed part that are looked into; deeper ones are not searched. */
const MAX_DEPTH = 16;

export const isGlob = (pattern: string): boolean => picomatch.scan(pattern).isGlob;

/**
 * Absolute paths of the regular files that match, sorted by code unit so that every machine reads them in one order.
 * A pattern without glob characters is its own only match, whether it exists or not.
 */
export function expandGlob(files: Files, base: string, pattern: string): readonly string[] {
  if (!isGlob(pattern)) return [resolve(base, pattern)];
  const scan = picomatch.scan(pattern);
  const root = resolve(base, scan.base);
  const matches = picomatch(scan.glob);
  const depth = scan.glob.includes('**') ? MAX_DEPTH : scan.glob.split('/').length;
  return walk(files, root, '', depth)
    .filter((path) => matches(path))
    .map((path) => join(root, path))
    .sort();
}

/** Paths of regular files relative to `root`. Linked directories are not entered: a link may lead back up. */
function walk(files: Files, root: string, below: string, depth: number): string[] {
  if (depth === 0) return [];
  const found: string[] = [];
  for (const name of files.list(join(root, below))) {
    const path = below === '' ? name : `${below}/${name}`;
    const absolute = join(root, path);
    const stat = files.stat(absolute);
    if (stat?.kind === 'file') found.push(path);
    if (stat?.kind === 'directory' && !isLink(files, absolute)) found.push(...walk(files, root, path, depth - 1));
  }
  return found;
}

const isLink = (files: Files, directory: string): boolean => {
  const parent = files.realpath(dirname(directory));
  return parent === null || files.realpath(directory) !== join(parent, basename(directory));
};
