/**
 * The compiler's interface to the file system, and how texts are read through it.
 */

import { basename, dirname, isAbsolute, relative, sep } from 'node:path';
import { MAX_FILE_BYTES, UnreadableFile } from '../../base/files.ts';
import { escapeInvisible } from '../../base/text.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { ParseResult } from './parse-yaml.ts';
import { parseYaml } from './parse-yaml.ts';

/** The compiler's interface to the file system; injected, so that compiling is a pure function. */
export interface FileStat {
  readonly kind: 'file' | 'directory' | 'other';
  /** In bytes. */
  readonly size: number;
  /** Permission bits (`0o777`). */
  readonly mode: number;
  /** Number of hard links. Default: 1. */
  readonly links?: number;
}

/** All paths are absolute. Symbolic links are followed. */
export interface Files {
  /**
   * Returns the whole content. @throws Error with a Node.js `code` if the file cannot be read
   * @param isAllowed receives the real path of the open file; if false, the code is `EOUTSIDE`
   */
  read(path: string, isAllowed?: (real: string) => boolean): Uint8Array;
  /** Returns null if the path does not exist or is not accessible. */
  stat(path: string): FileStat | null;
  /** Returns the names in a directory, in any order; empty if it cannot be listed. @throws UnreadableFile with `EOUTSIDE` */
  list(directory: string): readonly string[];
  /** Returns the path with all symbolic links resolved, or null if it does not exist. */
  realpath(path: string): string | null;
}

/** The file system and its working directory. */
export interface Disk {
  readonly files: Files;
  /** Absolute path; the base of relative paths, also in diagnostics. */
  readonly cwd: string;
}

export interface HomeDisk extends Disk {
  /** Absolute path of `<home_dir>`, which may not exist. */
  readonly home: string;
}

/** Reads a file as text for the parsers, and describes failures in a sentence. */
type TextRead =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly missing: boolean; readonly message: string };

const SENTENCES: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  ELOOP: 'cannot be read: its symbolic links form a loop',
  ENOENT: 'does not exist',
  EISDIR: 'is a directory; a file is expected here',
  ENOTREG: 'is not a regular file',
  EOUTSIDE:
    'is not read: it is outside of the folder of the config, in `.git`, or a `.env`; `--root <folder>` allows another folder',
};

const refusalOf = (code: string): string => SENTENCES[code] ?? `cannot be read: ${code}`;

const refuse = (message: string, missing = false): TextRead => ({ ok: false, missing, message });

/** Removes a byte order mark. Line ends are kept, so that offsets match the file. */
export function readText(files: Files, path: string): TextRead {
  const stat = files.stat(path);
  if (stat === null) return refuse('does not exist', true);
  if (stat.kind === 'directory') return refuse('is a directory; a file is expected here');
  if (stat.kind === 'other') return refuse('is not a regular file');
  if (stat.size > MAX_FILE_BYTES) return refuse(tooLarge(stat.size));
  let bytes: Uint8Array;
  try {
    bytes = files.read(path);
  } catch (error) {
    return refuse(refusalOf(codeOf(error)), codeOf(error) === 'ENOENT');
  }
  if (bytes.byteLength > MAX_FILE_BYTES) return refuse(tooLarge(bytes.byteLength));
  return decode(bytes);
}

function decode(bytes: Uint8Array): TextRead {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    const hint = bytes[0] === 0xff || bytes[0] === 0xfe ? ' (it looks like UTF-16)' : '';
    return refuse(`is not valid UTF-8${hint}; save it as UTF-8`);
  }
}

const tooLarge = (size: number): string =>
  `is ${(size / 1024 / 1024).toFixed(1)} MiB large; at most ${MAX_FILE_BYTES / 1024 / 1024} MiB are read`;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';

/** The finding of a file that cannot be read, at the file itself. */
export const unreadable = (source: SourceText, message: string): Finding => ({
  rule: 'unreadable-file',
  source,
  range: START,
  message,
});

/** Reads and parses one YAML file. */
interface YamlRead extends ParseResult {
  readonly source: SourceText;
  readonly isMissing: boolean;
}

/** @param path absolute */
export function readYamlFile({ files, cwd }: Disk, path: string): YamlRead {
  const read = readText(files, path);
  const source = { path, name: displayPath(path, cwd), text: read.ok ? read.text : '' };
  if (read.ok) return { ...parseYaml(source), source, isMissing: false };
  return { file: null, findings: [unreadable(source, read.message)], source, isMissing: read.missing };
}

/** A path as printed: a name with a line break could command a CI job. @param from absolute path of a directory, usually the working directory */
export function displayPath(path: string, from: string): string {
  const short = relative(from, path);
  const outside = short === '' || short === '..' || short.startsWith(`..${sep}`) || isAbsolute(short);
  return escapeInvisible((outside ? path : short).replaceAll(sep, '/'));
}

/** Not even in the folder of the config: CI jobs keep their token in `.git/config`. */
const PRIVATE = /(?:^|[\\/])(?:\.git(?:[\\/]|$)|\.env(?:\.[^\\/]*)?$)/i;

/**
 * The files that a config may name: an untrusted one, such as that of a pull request, must not make a command print or change
 * any other. @param folders absolute paths
 */
export function filesBelow(files: Files, folders: readonly string[]): Files {
  const roots = folders.map((folder) => files.realpath(folder) ?? folder);
  const isAllowed = (real: string): boolean => isBelow(real, roots);
  return {
    ...files,
    read: (path) => files.read(path, isAllowed),
    list: (folder) => {
      if (isAllowed(files.realpath(folder) ?? folder)) return files.list(folder);
      throw new UnreadableFile('EOUTSIDE', refusalOf('EOUTSIDE'));
    },
  };
}

/** Whether a real path is in one of the folders, and not private. @param roots real paths */
export const isBelow = (real: string, roots: readonly string[]): boolean =>
  !PRIVATE.test(real) && roots.some((root) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep));

/** The folder of a file that a command line names; the working directory, if a link in between leads out of it. */
export function namedFolder(files: Files, cwd: string, path: string): string {
  const folder = dirname(path);
  const isInside = folder === cwd || folder.startsWith(cwd.endsWith(sep) ? cwd : cwd + sep);
  return isInside && !isBelow(files.realpath(folder) ?? folder, [files.realpath(cwd) ?? cwd]) ? cwd : folder;
}

/** @param changes texts by absolute path; files and folders need not exist. New files have mode 0600. */
export function overlayFiles(base: Files, changes: ReadonlyMap<string, string>): Files {
  const bytesOf = (path: string): Uint8Array | null => {
    const text = changes.get(path);
    return text === undefined ? null : new TextEncoder().encode(text);
  };
  return {
    read: (path, isAllowed) => bytesOf(path) ?? base.read(path, isAllowed),
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

/** Records the paths that a compile reads, so that a change to any of them can trigger the next compile. */
interface RecordedFiles {
  readonly files: Files;
  /** Absolute and sorted. */
  paths(): readonly string[];
}

export function recordFiles(files: Files): RecordedFiles {
  const seen = new Set<string>();
  const note = <T, More extends unknown[]>(look: (path: string, ...more: More) => T) => {
    return (path: string, ...more: More): T => {
      seen.add(path);
      return look(path, ...more);
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
