/**
 * Removes ended dispatches after `retention_days`, or earlier when the store is larger than `retention_max_mb`, and
 * expired delivery ids. It works in small slices with pauses in between, so that no response is delayed.
 */
import type { Clock, Timer } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Store } from './contract.ts';
import { StoreUnavailable } from './contract.ts';
import type { Ref } from './records.ts';

interface RetentionContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly retentionDays: () => number;
  /** Size of the store above which ended dispatches are removed early. */
  readonly maxBytes: () => number;
}

const DAY_MS = 86_400_000;
/** Wait before the first pass, and between passes, in ms. */
const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;
/** Wait between two checks of the size, in ms. */
const SIZE_MS = 5000;
/** Share of the largest size at which a warning is logged, and below which it may be logged again. */
const WARN_AT = 0.8;
const WARN_AGAIN_AT = 0.7;
/** Rows examined in one transaction, and the pause after it. */
const SLICE = 200;
/** The same for delivery ids; most of these rows stay. */
const CLAIMS_SLICE = 500;
const TRIM_SLICE = 64;
const PAUSE_MS = 20;

/** Starts the passes; returns a function that stops them. */
export function startRetention(context: RetentionContext): () => void {
  const stops = [
    repeat(context, FIRST_MS, EVERY_MS, (stopped) => cleanUp(context, stopped)),
    repeat(context, SIZE_MS, SIZE_MS, createTrim(context)),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Repeats a pass, which resolves to the number of dispatches that it removed. */
function repeat(
  { clock, log }: RetentionContext,
  firstMs: number,
  everyMs: number,
  work: (stopped: () => boolean) => Promise<number>,
): () => void {
  let stopped = false;
  let timer: Timer;
  const pass = async (): Promise<void> => {
    try {
      const removed = await work(() => stopped);
      if (removed > 0) log.info({ removed }, 'removed ended dispatches from the store');
    } catch (error) {
      // The store itself reports a full disk; the next pass retries.
      if (!(error instanceof StoreUnavailable)) log.error({ err: error }, 'could not clean up the store');
    }
    if (!stopped) timer = clock.after(everyMs, pass);
  };
  timer = clock.after(firstMs, pass);
  return () => {
    stopped = true;
    timer.cancel();
  };
}

const pause = (clock: Clock): Promise<void> => new Promise((resolve) => clock.after(PAUSE_MS, resolve));

/** Runs one pass over the whole store; resolves to the number of dispatches removed. */
export async function cleanUp(
  { store, clock, retentionDays }: Omit<RetentionContext, 'log' | 'maxBytes'>,
  stopped: () => boolean,
): Promise<number> {
  for (let after: string | null = ''; after !== null && !stopped(); await pause(clock)) {
    const slice: { next: string | null } = await store.write({
      kind: 'expire_claims',
      now: clock.now(),
      after,
      limit: CLAIMS_SLICE,
    });
    after = slice.next;
  }
  const before = Math.floor(clock.now() - retentionDays() * DAY_MS);
  let removed = 0;
  for (let after: Ref | null = 0; after !== null && !stopped(); await pause(clock)) {
    const slice: { removed: number; next: Ref | null } = await store.write({
      kind: 'cleanup',
      before,
      after,
      limit: SLICE,
    });
    removed += slice.removed;
    after = slice.next;
  }
  return removed;
}

/** Returns a pass that checks the size and removes dispatches until the store is small enough. */
function createTrim({ store, clock, log, maxBytes }: RetentionContext): (stopped: () => boolean) => Promise<number> {
  let warned = false;
  return async (stopped) => {
    const max_bytes = maxBytes();
    let removed = 0;
    for (let more = true; more && !stopped(); ) {
      const trimmed = await store.write({ kind: 'trim', max_bytes, limit: TRIM_SLICE });
      removed += trimmed.removed;
      more = trimmed.removed > 0 && trimmed.bytes > max_bytes;
      const part = trimmed.bytes / max_bytes;
      if (part >= WARN_AT && !warned) {
        log.warn(
          { mb: Math.round(trimmed.bytes / 2 ** 20), retention_max_mb: Math.round(max_bytes / 2 ** 20) },
          'the store is close to its size limit; at the limit, the oldest ended dispatches are removed',
        );
      }
      warned = part >= WARN_AT || (warned && part > WARN_AGAIN_AT);
      if (more) await pause(clock);
    }
    return removed;
  };
}
