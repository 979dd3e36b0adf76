/**
 * What has happened and is being recorded. It keeps no place of what could happen next, a run or an attempt, but only so
 * much of it may be under way: when the store cannot keep up, or cannot write at all, nothing more is started.
 */
import type { Logger } from '../log.ts';
import type { Ref } from '../store/mutations.ts';
import { Stopped } from './persist.ts';

/** Most records at once: with a commit every few ms more than any gateway needs, and all that a crash can repeat. */
const MAX_RECORDS = 256;

export class Recording {
  private records = 0;
  private readonly log: Logger;
  private readonly abandoned: (ref: Ref) => void;

  /** @param abandoned nobody works on the dispatch any more: it is taken up again later */
  constructor(log: Logger, abandoned: (ref: Ref) => void) {
    this.log = log;
    this.abandoned = abandoned;
  }

  get active(): number {
    return this.records;
  }

  get isFull(): boolean {
    return this.records >= MAX_RECORDS;
  }

  /** Does a part of the work on a dispatch; what it throws is logged as `failure`, and answered with null. */
  async guard<T>(ref: Ref, failure: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Stopped)) this.log.error({ err: error, ref }, failure);
      this.abandoned(ref);
      return null;
    }
  }

  /** The same for the part that records. */
  async record(ref: Ref, failure: string, work: () => Promise<void>): Promise<void> {
    this.records++;
    await this.guard(ref, failure, work);
    this.records--;
  }
}
