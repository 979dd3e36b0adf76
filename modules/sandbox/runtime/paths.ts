/**
 * What the paths of a run name on this machine: symbolic links are followed, a folder to write is made. A link where a program
 * can write opens nothing: it could lead to whatever is hidden.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { codeOf } from '../../../base/errors.ts';

export interface Paths {
  /** Without links. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** The links on the way, by where they are: what each says. */
  readonly links: ReadonlyMap<string, string>;
  /** What opens nothing, and why. */
  readonly closed: readonly string[];
}

/** A folder of such a name would be in the way of a program's file. */
const FILE_NAME = /\.(?:json|ya?ml|toml|ini|conf|log|db|sqlite)$/i;
const MOST_LINKS = 40;

export const within = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.replace(/\/*$/, '/'));

/** How long the deepest of the folders is that the path is in; -1: none. */
export const depth = (path: string, folders: readonly string[]): number =>
  Math.max(-1, ...folders.filter((folder) => within(path, folder)).map((folder) => folder.length));

/** The path without links, itself where it is not there. */
export const realOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

interface Machine {
  readonly userHome: string;
  /** Folders that programs can write, besides those of the run. */
  readonly written: readonly string[];
  /** Whether what is missing may be made. */
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
        if (!isMade) throw new Error('is not there');
        mkdirSync(real, { recursive: true, mode: 0o700 });
        return [real];
      } catch (error) {
        closed.push(`${kind} ${path}: ${codeOf(error) ?? (error as Error).message}`);
        return [];
      }
    });
  return { read: open('read', read), write: open('write', write), links, closed };
}

/** The path without links, which are added to `links`. @throws Error for a link that a program may have made */
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
      throw new Error(`a program can have made the link ${next}`);
    if (++passed > MOST_LINKS) throw new Error('is a circle of links');
    const target = readlinkSync(next);
    links.set(next, target);
    names.unshift(...target.split('/'));
    if (isAbsolute(target)) at = '/';
  }
  return at;
}

/** Each entry is a mount. */
const MOST_ENTRIES = 300;
const KERNEL_FOLDERS = ['/dev', '/proc', '/sys'];

/**
 * Hides files with their folders, in which the rest stays: a mount over a single file is gone as soon as the file is replaced.
 * A folder that can be written, cannot be listed, is one of the root's or has too many entries stays as it is.
 * @returns the hidden folders, the paths of the run with what else is in these, and files to read besides
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
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true) links.set(path, readlinkSync(path));
    else (found?.isDirectory() === true ? read : files).push(path);
  }
  return { folders, paths: { ...paths, read, links }, files };
}

/** The paths in a folder; null: it cannot be listed. */
export function entriesOf(folder: string): readonly string[] | null {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return null;
  }
}
