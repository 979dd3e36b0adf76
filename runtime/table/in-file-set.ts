/** The values of an `in_file` list for filters (§2.2). The file is read again when it changes. */
import { isAbsolute, join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { FileStamp } from '../platform/files.ts';
import type { Logger } from '../platform/log.ts';
import type { ValueSet } from './value-set.ts';
import { createValueSet } from './value-set.ts';

/** The file operations of a list; `read` fails like node:fs. */
export interface ListFiles {
  stat: StatFile;
  read(path: string): Promise<string>;
}

interface ListContext {
  /** <home_dir>: relative paths start here. */
  readonly home: string;
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  readonly files: ListFiles;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Time for which a stat result is reused, in ms: under load one stat serves many events. */
const STAT_MS = 5;
const NOTHING = createValueSet([]);

/**
 * Returns the members of a JSON array, the keys of a JSON object, or the lines of any other text, trimmed, without empty ones.
 * @throws SyntaxError for a `.json` file that is not JSON, such as a half-written one.
 */
export function parseListFile(path: string, content: string): readonly unknown[] {
  const text = content.replace(/^\uFEFF/, '').trim();
  if (text.startsWith('[') || text.startsWith('{')) {
    try {
      const value: unknown = JSON.parse(text);
      return Array.isArray(value) ? value : Object.keys(value as object);
    } catch (error) {
      if (path.endsWith('.json')) throw error;
    }
  }
  return text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The absolute path of a list. */
export function listPath(path: string, { home, userHome }: Pick<ListContext, 'home' | 'userHome'>): string {
  if (path.startsWith('~/')) return join(userHome, path.slice(2));
  return isAbsolute(path) ? path : join(home, path);
}

/** Returns a function that opens each list once, for all filters that name it. */
export function createListOpener(context: ListContext): (path: string) => ListFile {
  const open = new Map<string, ListFile>();
  return (path) => {
    const absolute = listPath(path, context);
    const list = open.get(absolute) ?? new InFileSet(absolute, context);
    open.set(absolute, list);
    return list;
  };
}

/** A list that follows its file. */
export interface ListFile extends ValueSet {
  /**
   * Call before values are looked up. Null if the file has not changed; otherwise resolves once the new values are loaded.
   * Never rejects.
   */
  refresh(): Promise<void> | null;
}

/**
 * One list, empty until its first refresh. A missing file matches nothing. If the file cannot be read or parsed, the previous
 * values stay, with one warning for each change of the file.
 */
class InFileSet implements ListFile {
  readonly #path: string;
  readonly #context: ListContext;
  #values: ValueSet = NOTHING;
  #version = '';
  #checked = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | null = null;

  constructor(path: string, context: ListContext) {
    this.#path = path;
    this.#context = context;
  }

  has(value: unknown): boolean {
    return this.#values.has(value);
  }

  refresh(): Promise<void> | null {
    const now = this.#context.clock.monotonic();
    if (this.#loading !== null || now - this.#checked < STAT_MS) return this.#loading;
    this.#checked = now;
    const version = this.#stat();
    if (version === this.#version) return null;
    this.#version = version;
    this.#loading = this.#load(version).finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(version: string): Promise<void> {
    if (version === 'missing') {
      this.#values = NOTHING;
      this.#context.log.warn({ file: this.#path }, 'list of an in_file filter is missing: nothing matches');
      return;
    }
    try {
      this.#values = createValueSet(parseListFile(this.#path, await this.#context.files.read(this.#path)));
    } catch (error) {
      const reason = messageOf(error);
      this.#context.log.warn({ file: this.#path, reason }, 'could not read an in_file list; keeping its values');
    }
  }

  /** Changes whenever the file does. */
  #stat(): string {
    try {
      const stats = this.#context.files.stat(this.#path);
      if (stats === undefined) return 'missing';
      const { mtimeMs, ctimeMs, size, ino } = stats;
      return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
    } catch {
      return 'missing';
    }
  }
}

/** Returns undefined for a missing file; throws like node:fs. */
export type StatFile = (path: string) => FileStamp | undefined;

/**
 * A file younger than this, in ms, may change again with the same stamp: file systems store times in steps of several
 * ms, and an inode freed by one rename may be reused by the next.
 */
const SETTLE_MS = 50;

/** The stamp of a file as it was last read. */
export class FileVersion {
  private mtimeMs = Number.NaN;
  private ctimeMs = Number.NaN;
  private size = Number.NaN;
  private ino = Number.NaN;
  private settled = false;

  /** True if the file may have changed since the last `note`. */
  differs(stat: FileStamp | undefined): boolean {
    if (stat === undefined) return !Number.isNaN(this.size);
    return (
      !this.settled ||
      stat.ino !== this.ino ||
      stat.size !== this.size ||
      stat.mtimeMs !== this.mtimeMs ||
      stat.ctimeMs !== this.ctimeMs
    );
  }

  /** Call before reading the file, so that a change during the read counts as a later one. @param now Unix ms */
  note(stat: FileStamp | undefined, now: number): void {
    this.mtimeMs = stat?.mtimeMs ?? Number.NaN;
    this.ctimeMs = stat?.ctimeMs ?? Number.NaN;
    this.size = stat?.size ?? Number.NaN;
    this.ino = stat?.ino ?? Number.NaN;
    this.settled = stat === undefined || Math.abs(now - stat.ctimeMs) >= SETTLE_MS;
  }
}
