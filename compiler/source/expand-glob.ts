/** Finds the files that match a pattern, for `--config` and `include:`. */
import { basename, dirname, join, resolve } from 'node:path';
import { isGlob, pathGlob } from '../globs/path-glob.ts';
import type { Files } from './files.ts';

/** Maximum depth of the search below a pattern's fixed part. */
const MAX_DEPTH = 16;

/**
 * Returns the absolute paths of the regular files that match, sorted by code unit, so that the order is the same on every
 * machine; or an error for an invalid pattern. A pattern without glob characters matches itself, whether or not it exists.
 */
export function expandGlob(files: Files, base: string, pattern: string): readonly string[] | Error {
  if (!isGlob(pattern)) return [resolve(base, pattern)];
  const found = pathGlob(pattern);
  if (found instanceof Error) {
    return new Error(`${JSON.stringify(pattern)} is not a supported glob: ${found.message}`);
  }
  const { glob, matches } = found;
  const root = resolve(base, found.base);
  const depth = glob.includes('**') ? MAX_DEPTH : glob.split('/').length;
  return walk(files, root, '', depth)
    .filter((path) => matches(path))
    .map((path) => join(root, path))
    .sort();
}

/** Lists regular files, relative to `root`. Does not follow links to directories, which may be cyclic. */
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
