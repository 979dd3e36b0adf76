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

  begin(): void {
    this.records++;
  }

  end(): void {
    this.records--;
  }

  /** A part of the work on a dispatch has thrown. */
  failed(ref: Ref, error: unknown, message: string): void {
    if (!(error instanceof Stopped)) this.log.error({ err: error, ref }, message);
    this.abandoned(ref);
  }
}
