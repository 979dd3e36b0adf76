/**
 * Syncs a file while its caller waits, as long as the disk is quick, and beside the event loop otherwise. Handing a sync
 * to another thread and hearing of its end takes longer than the sync of a quick disk, and much longer on a busy machine.
 */
import { fdatasync, fdatasyncSync } from 'node:fs';

/** A sync that takes longer is slow, in ms. */
const QUICK_MS = 1;
/**
 * After a slow sync so many times as long goes by before one is waited for again, and twice as many after each further slow
 * one: of the event loop's time a slow disk gets next to nothing, and a quick one that falters now and then little.
 */
const LEAST_PAUSE = 4;
const MOST_PAUSE = 256;

export interface Syncs {
  readonly here: (fd: number) => void;
  readonly beside: (fd: number, done: (error: Error | null) => void) => void;
  /** Monotonic ms. */
  readonly now: () => number;
}

const systemSyncs: Syncs = { here: fdatasyncSync, beside: fdatasync, now: () => performance.now() };

export class QuickSync {
  private readonly syncs: Syncs;
  private slowUntil = Number.NEGATIVE_INFINITY;
  private pause = LEAST_PAUSE;

  constructor(syncs: Syncs = systemSyncs) {
    this.syncs = syncs;
  }

  /** Calls `done` before it returns when the disk is quick. */
  sync(fd: number, done: (error: Error | null) => void): void {
    if (this.syncs.now() < this.slowUntil) this.syncs.beside(fd, done);
    else done(this.syncHere(fd));
  }

  private syncHere(fd: number): Error | null {
    const { here, now } = this.syncs;
    const started = now();
    try {
      here(fd);
      return null;
    } catch (error) {
      return error as Error;
    } finally {
      this.judge(started, now() - started);
    }
  }

  private judge(started: number, took: number): void {
    if (took <= QUICK_MS) {
      this.pause = LEAST_PAUSE;
      return;
    }
    this.slowUntil = started + took * (1 + this.pause);
    this.pause = Math.min(this.pause * 2, MOST_PAUSE);
  }
}
