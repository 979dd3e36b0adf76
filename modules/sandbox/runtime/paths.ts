/**
 * What the paths of a run name on this machine: symbolic links are followed, a folder to write is made. A link where a program
 * can write opens nothing: it could lead to whatever is hidden.
 */
import { existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { codeOf } from '../../../base/code-of.ts';

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

/** The path without links, itself where it is not there. */
export const realOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** @param written folders that programs can write, besides `write` @param make whether what is missing may be made */
export function openPaths(
  { read, write }: { readonly read: readonly string[]; readonly write: readonly string[] },
  {
    userHome,
    written,
    make,
  }: { readonly userHome: string; readonly written: readonly string[]; readonly make: boolean },
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
