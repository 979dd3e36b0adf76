/**
 * Reads files that other users may be able to write, parses `.env` files, and finds the folders that are shipped with
 * the code.
 */
import type { Stats } from 'node:fs';
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Reads files that other users may be able to write: skills, lists, secrets, subscriptions, tables, catalogs.
 *
 * Such a path may name a FIFO, a device, a folder or an endless file, and may change between two system calls. Therefore
 * only regular files are opened; they are opened with O_NONBLOCK, in case the file has been replaced since the check; the
 * type is checked again on the open descriptor; and at most `maxBytes` are read, whatever size the file system reports.
 * Servers use only the asynchronous functions; the synchronous ones are for the compiler and for commands.
 */

/** Has the system's error codes, plus `ENOTREG` (not a regular file) and `EFBIG` (too large). */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Default limit, in bytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Windows has neither flag; opening a file never blocks there. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const PIECE = 64 * 1024;

/** @throws UnreadableFile, or as node:fs/promises does */
export async function readRegularFile(path: string, maxBytes: number = MAX_FILE_BYTES): Promise<Buffer> {
  check(path, await stat(path), maxBytes);
  const file = await open(path, FLAGS);
  try {
    const stats = await file.stat();
    check(path, stats, maxBytes);
    return await readAll(file, path, stats.size, maxBytes);
  } finally {
    await file.close();
  }
}

/** The same for a file that a program of this user writes: it must not be a link to another file. */
export async function readOwnFile(path: string, maxBytes: number): Promise<Buffer> {
  check(path, await lstat(path), maxBytes);
  const file = await open(path, FLAGS | (constants.O_NOFOLLOW ?? 0));
  try {
    const stats = await file.stat();
    check(path, stats, maxBytes);
    if (stats.nlink > 1) throw new UnreadableFile('ENOTREG', `${path} is a link`);
    return await readAll(file, path, stats.size, maxBytes);
  } finally {
    await file.close();
  }
}

/** Decodes the file as UTF-8. @throws UnreadableFile, or as node:fs/promises does */
export async function readRegularText(path: string, maxBytes?: number): Promise<string> {
  return (await readRegularFile(path, maxBytes)).toString('utf8');
}

/**
 * @param isAllowed receives the real path of the open file, which is not read if this is false
 * @throws UnreadableFile, or as node:fs does
 */
export function readRegularFileSync(
  path: string,
  maxBytes: number = MAX_FILE_BYTES,
  isAllowed?: (real: string) => boolean,
): Buffer {
  if (isAllowed?.(realpathSync(path)) === false) throw outside(path);
  check(path, statSync(path), maxBytes);
  const file = openSync(path, FLAGS);
  try {
    const stats = fstatSync(file);
    check(path, stats, maxBytes);
    // The path may have been replaced since. Linux knows the path of an open file.
    const opened = `/proc/self/fd/${file}`;
    if (isAllowed?.(realpathSync(existsSync(opened) ? opened : path)) === false) throw outside(path);
    const pieces = new Pieces(path, stats.size, maxBytes);
    while (pieces.add(readSync(file, pieces.room())));
    return pieces.whole();
  } finally {
    closeSync(file);
  }
}

/** Decodes the file as UTF-8. @throws UnreadableFile, or as node:fs does */
export function readRegularTextSync(path: string, maxBytes?: number): string {
  return readRegularFileSync(path, maxBytes).toString('utf8');
}

function check(path: string, stats: Stats, maxBytes: number): void {
  if (stats.isDirectory()) throw new UnreadableFile('EISDIR', `${path} is a folder, not a file`);
  if (!stats.isFile()) throw new UnreadableFile('ENOTREG', `${path} is not a regular file`);
  if (stats.size > maxBytes) throw tooLarge(path, maxBytes);
}

async function readAll(file: FileHandle, path: string, size: number, maxBytes: number): Promise<Buffer> {
  const pieces = new Pieces(path, size, maxBytes);
  while (pieces.add((await file.read(pieces.room())).bytesRead));
  return pieces.whole();
}

/** The bytes read so far. The file's size only sets the initial capacity: files grow, and some report no size. */
class Pieces {
  private readonly path: string;
  private readonly maxBytes: number;
  private readonly full: Buffer[] = [];
  private current: Buffer;
  private used = 0;
  private total = 0;

  constructor(path: string, size: number, maxBytes: number) {
    this.path = path;
    this.maxBytes = maxBytes;
    this.current = Buffer.allocUnsafe(size + 1);
  }

  room(): Buffer {
    if (this.used === this.current.length) {
      this.full.push(this.current);
      this.current = Buffer.allocUnsafe(PIECE);
      this.used = 0;
    }
    return this.current.subarray(this.used);
  }

  /** Returns false at the end of the file. */
  add(bytes: number): boolean {
    this.used += bytes;
    this.total += bytes;
    if (this.total > this.maxBytes) throw tooLarge(this.path, this.maxBytes);
    return bytes > 0;
  }

  whole(): Buffer {
    const last = this.current.subarray(0, this.used);
    return this.full.length === 0 ? last : Buffer.concat([...this.full, last], this.total);
  }
}

const outside = (path: string): UnreadableFile => new UnreadableFile('EOUTSIDE', `${path} leads out of its folder`);

function tooLarge(path: string, maxBytes: number): UnreadableFile {
  return new UnreadableFile('EFBIG', `${path} is larger than ${maxBytes} bytes`);
}

/** A parsed `.env` file: `KEY=value` lines, comments, quotes, an optional `export`. Variables are not expanded. */
interface EnvLines {
  readonly values: ReadonlyMap<string, string>;
  /** Ranges of the lines that could not be parsed. */
  readonly faults: readonly { readonly start: number; readonly end: number }[];
}

/** A name, `=`, and a value: in double quotes (`\n`, `\t`, `\"`, `\\` are escapes), in single quotes (verbatim), or bare. */
const LINE =
  /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^"'\s#](?:[^#]|(?<!\s)#)*)?)\s*(?:#.*)?$/;

/** Later lines override earlier ones, as in a shell. `util.parseEnv` does not report the lines that it cannot parse. */
export function parseEnvLines(text: string): EnvLines {
  const values = new Map<string, string>();
  const faults: { start: number; end: number }[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    const match = LINE.exec(line);
    const [, name, double, single, bare] = match ?? [];
    if (name !== undefined) values.set(name, double === undefined ? (single ?? bare?.trim() ?? '') : unquote(double));
    else if (!/^\s*(#.*)?$/.test(line)) {
      faults.push({ start: offset + line.search(/\S/), end: offset + line.trimEnd().length });
    }
    offset += line.length + 1;
  }
  return { values, faults };
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

const unquote = (text: string): string =>
  text.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character);

/** Whether others may write a file with these permission bits. Anyone who can write a `.env` file controls its secrets. */
export const mayOthersWrite = (mode: number): boolean => (mode & 0o002) !== 0;

/** Absolute path of `catalog/`, `schemas/` or `console/`: the closest one above this file, whose depth differs in a build. */
export function assetFolder(name: 'catalog' | 'schemas' | 'console'): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, name)) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, name);
}

/** The value of a JSON text; undefined if the text is not JSON. @param parse `readJson` for a payload */
export function tryParseJson(text: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
