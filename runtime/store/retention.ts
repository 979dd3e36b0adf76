/**
 * Takes away what has been kept long enough: ended dispatches after `retention_days`, delivery ids after their time.
 * A small slice at a time with pauses in between, so that nobody who waits for an answer notices.
 */
import type { Clock, Timer } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Ref } from './mutations.ts';
import type { Store } from './store.ts';
import { StoreUnavailable } from './store.ts';

export interface RetentionContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly retentionDays: () => number;
}

const DAY_MS = 86_400_000;
/** First pass and every further one, in ms after the one before. */
const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;
/** Rows looked at in one transaction, and the pause after it. */
const SLICE = 200;
/** The same for delivery ids, of which most stay where they are. */
const CLAIMS_SLICE = 500;
const PAUSE_MS = 20;

/** Begins; the answer ends it. */
export function startRetention(context: RetentionContext): () => void {
  const { clock, log } = context;
  let stopped = false;
  let timer: Timer;
  const pass = async (): Promise<void> => {
    try {
      const removed = await cleanUp(context, () => stopped);
      if (removed > 0) log.info({ removed }, 'removed what was kept long enough');
    } catch (error) {
      // A full disk is told by whoever needs it; the next pass comes anyway.
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'cannot clean up');
    }
    if (!stopped) timer = clock.after(EVERY_MS, pass);
  };
  timer = clock.after(FIRST_MS, pass);
  return () => {
    stopped = true;
    timer.cancel();
  };
}

/** One pass over everything; answers the number of dispatches removed. */
export async function cleanUp(
  { store, clock, retentionDays }: Omit<RetentionContext, 'log'>,
  stopped: () => boolean,
): Promise<number> {
  const pause = (): Promise<void> => new Promise((resolve) => clock.after(PAUSE_MS, resolve));
  for (let after: string | null = ''; after !== null && !stopped(); await pause()) {
    const slice: { next: string | null } = await store.write({
      ...{ kind: 'expire_claims', now: clock.now(), after, limit: CLAIMS_SLICE },
    });
    after = slice.next;
  }
  const before = Math.floor(clock.now() - retentionDays() * DAY_MS);
  let removed = 0;
  for (let after: Ref | null = 0; after !== null && !stopped(); await pause()) {
    const slice: { removed: number; next: Ref | null } = await store.write({
      ...{ kind: 'cleanup', before, after, limit: SLICE },
    });
    removed += slice.removed;
    after = slice.next;
  }
  return removed;
}
