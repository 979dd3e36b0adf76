/**
 * Sees to it that nothing stored is forgotten while the process lives: takes up what the last one left, what other
 * processes put in, and now and then whatever nobody works on although it has not ended (an answer of the store that
 * never came, a change that could not be recorded).
 */
import type { Clock, Timer } from '../clock.ts';
import type { Ref } from '../store/mutations.ts';
import type { RecoveryParts } from './recovery.ts';
import { emptyInbox, recover } from './recovery.ts';

/** How often the store's inbox is looked into, and how often everything is, in ms. */
const INBOX_MS = 1000;
const SWEEP_MS = 300_000;

export class Caretaker {
  private readonly parts: RecoveryParts;
  private readonly timers = new Map<string, Timer>();
  private stopped = false;
  /** Up to here nothing can still be on its way to being known: at first, what was there before this process. */
  private settled: Ref;

  constructor(parts: RecoveryParts) {
    this.parts = parts;
    this.settled = parts.context.store.last();
  }

  /** Takes up what is unfinished; resolves with its number once all of it is taken up. */
  async start(): Promise<number> {
    const { log, clock } = this.parts.context;
    this.every(clock, 'inbox', INBOX_MS, () => emptyInbox(this.parts));
    const found = await this.sweep();
    if (found > 0) log.info({ dispatches: found, groups: this.parts.groups.size }, 'taken up after the last stop');
    this.every(clock, 'sweep', SWEEP_MS, async () => {
      const forgotten = await this.sweep();
      if (forgotten > 0) log.warn({ dispatches: forgotten }, 'taken up again: nobody was working on them');
    });
    return found;
  }

  stop(): void {
    this.stopped = true;
    for (const timer of this.timers.values()) timer.cancel();
  }

  private async sweep(): Promise<number> {
    const next = this.parts.context.store.last();
    const found = await recover(this.parts, this.settled, () => this.stopped);
    this.settled = next;
    return found;
  }

  private every(clock: Clock, name: string, ms: number, work: () => Promise<void>): void {
    if (this.stopped) return;
    const run = (): void => {
      work()
        .catch((error: unknown) => this.parts.context.log.error({ err: error }, `cannot look after the store: ${name}`))
        .finally(() => this.every(clock, name, ms, work));
    };
    this.timers.set(name, clock.after(ms, run));
  }
}
