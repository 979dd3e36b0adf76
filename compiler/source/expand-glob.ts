/** Finds the files a pattern names, for `--config` and `include:`. */
import { basename, dirname, join, resolve } from 'node:path';
import { isGlob, pathGlob } from '../globs/path-glob.ts';
import type { Files } from './files.ts';

/** Directories below a pattern's fixed part that are looked into; deeper ones are not searched. */
const MAX_DEPTH = 16;

/**
 * Absolute paths of the regular files that match, sorted by code unit so that every machine reads them in one order.
 * Or what is wrong with the pattern. One without glob characters is its own only match, whether it exists or not.
 */
export function expandGlob(files: Files, base: string, pattern: string): readonly string[] | Error {
  if (!isGlob(pattern)) return [resolve(base, pattern)];
  const found = pathGlob(pattern);
  if (found instanceof Error) {
    return new Error(`${JSON.stringify(pattern)} is no glob that can be used here: ${found.message}`);
  }
  const { glob, matches } = found;
  const root = resolve(base, found.base);
  const depth = glob.includes('**') ? MAX_DEPTH : glob.split('/').length;
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
