/** The values of an `in_file` list, re-read when its file changes, for filters (§2.2). */

import { isAbsolute, join } from 'node:path';
import { messageOf } from '../../base/message-of.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { ValueSet } from './value-set.ts';
import { createValueSet } from './value-set.ts';

/** The file system as a list needs it; both fail as node:fs does. */
export interface ListFiles {
  stat(path: string): {
    readonly mtimeMs: number;
    readonly ctimeMs: number;
    readonly size: number;
    readonly ino: number;
  };
  read(path: string): Promise<string>;
}

export interface ListContext {
  /** <home_dir>: relative paths start here. */
  readonly home: string;
  /** The user's home folder, for `~/`. */
  readonly userHome: string;
  readonly files: ListFiles;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How long a stat is believed, in ms: under load one stat serves many events. */
const STAT_MS = 5;
const NOTHING = createValueSet([]);

/**
 * A JSON array's members, a JSON object's keys, or the lines of any other text, trimmed and without empty ones.
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

function listPath(path: string, { home, userHome }: ListContext): string {
  if (path.startsWith('~/')) return join(userHome, path.slice(2));
  return isAbsolute(path) ? path : join(home, path);
}

/** Opens each list once, however many filters name it. */
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
   * Called before values are looked up. Null when the file has not changed, else settles once the change is taken in;
   * never rejects.
   */
  refresh(): Promise<void> | null;
}

/**
 * One list, empty until its first refresh. A missing file matches nothing; one that cannot be read or parsed keeps the values it had,
 * and says so once per change.
 */
class InFileSet implements ListFile {
  readonly #path: string;
  readonly #files: ListFiles;
  readonly #clock: Clock;
  readonly #log: Logger;
  #values: ValueSet = NOTHING;
  #version = '';
  #checked = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | null = null;

  constructor(path: string, context: ListContext) {
    this.#path = path;
    this.#files = context.files;
    this.#clock = context.clock;
    this.#log = context.log;
  }

  has(value: unknown): boolean {
    return this.#values.has(value);
  }

  refresh(): Promise<void> | null {
    const now = this.#clock.monotonic();
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
      this.#log.warn({ file: this.#path }, 'in_file list is missing: it matches nothing');
      return;
    }
    try {
      this.#values = createValueSet(parseListFile(this.#path, await this.#files.read(this.#path)));
    } catch (error) {
      const reason = messageOf(error);
      this.#log.warn({ file: this.#path, reason }, 'in_file list cannot be read: its last values stay');
    }
  }

  /** Changes whenever the file does. */
  #stat(): string {
    try {
      const { mtimeMs, ctimeMs, size, ino } = this.#files.stat(this.#path);
      return `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
    } catch {
      return 'missing';
    }
  }
}
