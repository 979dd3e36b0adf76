/**
 * Removes folders that programs have filled, whatever is in them: huge or deep trees, folders without permissions, names
 * that are not UTF-8, links, and files that a process still writes.
 *
 * A folder is first moved into `removed` beside it, which is one step. There it is taken apart one entry at a time, so that
 * requests are served meanwhile: files and links are unlinked, never followed; a folder found within is moved to `removed`
 * itself. So no path grows, nothing is recursive, and `removed` is the list of what is left to do, over restarts too.
 */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../base/code-of.ts';
import { systemClock } from './clock.ts';
import type { Logger } from './log.ts';

/** How often a folder is read again that a process still writes to. */
const MAX_PASSES = 20;
/** Most entries that are taken in a pass after the first one: a file system that lists no new entry lets a pass have no other end. */
const MAX_LATER = 1000;
/** After this many entries that cannot be removed, the rest is left for the next start. */
const MAX_STUCK = 100;

/** Removes folders one after another, in the background. */
export class TreeRemover {
  private readonly depot: string;
  private readonly log: Logger;
  private readonly stuck = new Set<string>();
  private emptying: Promise<void> | null = null;
  private isClosed = false;

  /** @param depot absolute path of the folder in which they wait; on the same file system as they are */
  constructor(depot: string, log: Logger) {
    this.depot = depot;
    this.log = log;
  }

  /** Moves the folder away and removes it in the background. Rejects as node:fs does when it cannot be moved. */
  async remove(path: string): Promise<void> {
    await mkdir(this.depot, { recursive: true, mode: 0o700 });
    await this.take(path);
    this.resume();
  }

  /** Removes in the background what waits. */
  resume(): void {
    this.emptying ??= this.empty()
      .catch((error: unknown) => {
        if (codeOf(error) !== 'ENOENT') this.log.warn({ err: error }, 'what runs have left cannot be removed');
      })
      .finally(() => {
        this.emptying = null;
      });
  }

  /** Resolves when nothing waits that can be removed. */
  async idle(): Promise<void> {
    await this.emptying;
  }

  /** Stops after the current entry; resolves then. What is left is removed after the next start. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.emptying;
  }

  private async take(path: string | Buffer): Promise<void> {
    const place = join(this.depot, randomUUID());
    try {
      await rename(path, place);
    } catch (error) {
      if (codeOf(error) !== 'EACCES') throw error;
      // A folder that is moved to another one must be writable itself.
      await chmod(path, 0o700);
      await rename(path, place);
    }
  }

  private async empty(): Promise<void> {
    const before = this.stuck.size;
    let last: unknown = null;
    let isDone = false;
    while (!isDone && !this.isClosed) {
      isDone = true;
      for await (const { name } of await opendir(this.depot)) {
        if (this.isClosed || this.stuck.size - before >= MAX_STUCK) break;
        if (this.stuck.has(name)) continue;
        isDone = false;
        await this.takeApart(join(this.depot, name)).catch((error: unknown) => {
          last = error;
          this.stuck.add(name);
        });
      }
    }
    const left = this.stuck.size - before;
    if (left > 0) this.log.warn({ err: last, folder: this.depot, left }, 'what a run has left cannot be removed');
  }

  /** @param path within the depot, so that no program of a run can replace it */
  private async takeApart(path: string): Promise<void> {
    if (!(await lstat(path)).isDirectory()) return unlink(path);
    await chmod(path, 0o700);
    for (let pass = 1; ; pass++) {
      const began = systemClock.now();
      let taken = 0;
      for await (const { name } of await opendir(path, { encoding: 'buffer' as BufferEncoding })) {
        if (this.isClosed) return;
        const changedAt = await this.takeEntry(Buffer.concat([Buffer.from(`${path}/`), name as unknown as Buffer]));
        // What a process adds faster than it is taken away would make the pass endless.
        if (changedAt > began || (pass > 1 && ++taken >= MAX_LATER)) break;
      }
      try {
        return await rmdir(path);
      } catch (error) {
        if (pass === MAX_PASSES || !NOT_EMPTY.has(codeOf(error) ?? '')) throw error;
      }
    }
  }

  /** @returns when it was changed last, in Unix ms; 0: it is gone already */
  private async takeEntry(path: Buffer): Promise<number> {
    try {
      const entry = await lstat(path);
      await (entry.isDirectory() ? this.take(path) : unlink(path));
      return entry.ctimeMs;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
      return 0;
    }
  }
}

/** Error codes of rmdir for a folder that is not empty. */
const NOT_EMPTY: ReadonlySet<string> = new Set(['ENOTEMPTY', 'EEXIST']);
