/**
 * Resolves the paths of a run on this machine. Symbolic links are followed, and folders to write are created. A link in a
 * folder that a program can write is not followed: it could lead to hidden files.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { codeOf } from '../../../base/errors.ts';

export interface Paths {
  /** With links resolved. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Links on the way, by path, with their targets. */
  readonly links: ReadonlyMap<string, string>;
  /** Paths that cannot be opened, with the reason. */
  readonly closed: readonly string[];
}

/** A folder with such a name would block a program's file. */
const FILE_NAME = /\.(?:json|ya?ml|toml|ini|conf|log|db|sqlite)$/i;
const MOST_LINKS = 40;

export const within = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.replace(/\/*$/, '/'));

/** Length of the deepest of the folders that contains the path; -1: none. */
export const depth = (path: string, folders: readonly string[]): number =>
  Math.max(-1, ...folders.filter((folder) => within(path, folder)).map((folder) => folder.length));

/** The path with links resolved, or unchanged if it does not exist. */
export const realOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

interface Machine {
  readonly userHome: string;
  /** Other folders that programs can write, besides those of the run. */
  readonly written: readonly string[];
  /** Create missing folders. */
  readonly make: boolean;
}

export function openPaths(
  { read, write }: { readonly read: readonly string[]; readonly write: readonly string[] },
  { userHome, written, make }: Machine,
): Paths {
  const absolute = (path: string): string => (/^~(?:\/|$)/.test(path) ? join(userHome, path.slice(1)) : path);
  const shared = [...write, ...written].map(absolute).flatMap((path) => [path, realOf(path)]);
  const links = new Map<string, string>();
  const closed: string[] = [];
  const open = (kind: string, paths: readonly string[]): readonly string[] =>
    paths.flatMap((path) => {
      try {
        const real = follow(absolute(path), shared, links);
        const isMade = kind === 'write' && within(real, userHome) && !FILE_NAME.test(real);
        if (existsSync(real) || (isMade && !make)) return [real];
        if (!isMade) throw new Error('does not exist');
        mkdirSync(real, { recursive: true, mode: 0o700 });
        return [real];
      } catch (error) {
        closed.push(`${kind} ${path}: ${codeOf(error) ?? (error as Error).message}`);
        return [];
      }
    });
  return { read: open('read', read), write: open('write', write), links, closed };
}

/** Resolves the links of a path and adds them to `links`. @throws Error for a link that a program may have created */
function follow(path: string, shared: readonly string[], links: Map<string, string>): string {
  let at = '/';
  const names = path.split('/');
  for (let passed = 0; names.length > 0; ) {
    const name = names.shift() ?? '';
    const next = name === '..' ? dirname(at) : join(at, name);
    if (lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink() !== true) {
      at = next;
      continue;
    }
    if (shared.some((folder) => next !== folder && within(next, folder)))
      throw new Error(`a program may have created the link ${next}`);
    if (++passed > MOST_LINKS) throw new Error('has too many symbolic links');
    const target = readlinkSync(next);
    links.set(next, target);
    names.unshift(...target.split('/'));
    if (isAbsolute(target)) at = '/';
  }
  return at;
}

/** Maximum number of entries; each is a mount. */
const MOST_ENTRIES = 300;
const KERNEL_FOLDERS = ['/dev', '/proc', '/sys'];

/**
 * Hides files by hiding their folders and mounting the other entries again: a mount over a single file ends when the file is
 * replaced. Folders that are writable, cannot be listed, are in the root, or have too many entries are left unchanged.
 * @returns the hidden folders, the paths of the run with the other entries of these folders, and further files to read
 */
export function coverFiles(hidden: readonly string[], walls: readonly string[], paths: Paths) {
  const named = [...paths.read, ...paths.write];
  const secret = hidden
    .map((path) => join(realOf(dirname(path)), basename(path)))
    .filter((path) => !named.includes(path));
  const entries = new Map<string, readonly string[]>();
  for (const folder of new Set(secret.map(dirname))) {
    const isHidden = !named.includes(folder) && depth(folder, [...walls, ...secret]) > depth(folder, named);
    if (isHidden || depth(folder, [...paths.write, ...KERNEL_FOLDERS]) >= 0 || dirname(folder) === '/') continue;
    const listed = entriesOf(folder);
    if (listed !== null && listed.length <= MOST_ENTRIES) entries.set(folder, listed);
  }
  const folders = [...entries.keys()];
  const apart = new Set([...secret, ...walls, ...named, ...folders]);
  const read = paths.read.filter((path) => !folders.includes(path));
  const files: string[] = [];
  const links = new Map(paths.links);
  for (const path of [...entries.values()].flat().filter((each) => !apart.has(each))) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink() === true) links.set(path, readlinkSync(path));
    else (stats?.isDirectory() === true ? read : files).push(path);
  }
  return { folders, paths: { ...paths, read, links }, files };
}

/** The paths in a folder; null if it cannot be listed. */
export function entriesOf(folder: string): readonly string[] | null {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return null;
  }
}
