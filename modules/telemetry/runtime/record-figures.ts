/**
 * Writes what came in to the store, once a minute, for the charts. It reads the counters that the gateway has anyway, so an event
 * costs nothing; a minute in which nothing came and nothing waits is not written.
 */
import { messageOf } from '../../../base/message-of.ts';
import type { Outcome } from '../../../runtime/intake/reply.ts';
import type { FigureContext } from '../../../runtime/metrics/metrics.ts';
import type { Timer } from '../../../runtime/platform/clock.ts';
import type { FigureCount, Figures } from '../../../runtime/store/figures.ts';

/** Bucket bounds in seconds, for requests. */
export const REQUEST_SECONDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30,
];

export interface RequestTotals {
  readonly byOutcome: Readonly<Record<string, number>>;
  readonly durations: readonly number[];
}

interface RecordContext extends FigureContext {
  readonly totals: () => RequestTotals;
}

const MINUTE_MS = 60_000;

/** Null: no event. */
const COUNTED: Readonly<Record<Outcome, FigureCount | null>> = {
  accepted: 'taken',
  coalesced: 'taken',
  delivered: 'taken',
  ignored: 'ignored',
  duplicate: 'duplicate',
  challenge: null,
  document: null,
  aborted: null,
  malformed_body: 'refused',
  malformed_request: 'refused',
  invalid_signature: 'refused',
  foreign_origin: 'refused',
  route_disabled: 'refused',
  unknown_route: 'refused',
  method_not_allowed: 'refused',
  request_timeout: 'refused',
  payload_too_large: 'refused',
  unsupported_media_type: 'refused',
  rate_limited: 'refused',
  headers_too_large: 'refused',
  internal_error: 'failed',
  delivery_failed: 'failed',
  overloaded: 'failed',
  shutting_down: 'failed',
};

/** Returns a function that ends it, and writes what the last minute has had so far. */
export function recordFigures(context: RecordContext): () => Promise<void> {
  const { clock, log } = context;
  let before = context.totals();
  let minute = minuteAt(clock.now());
  let timer: Timer;
  let isOut = false;
  const write = async (): Promise<void> => {
    const after = context.totals();
    try {
      const figures = { ...between(before, after), waiting: await waiting(context) };
      if (Object.values(figures).some((value) => value > 0))
        await context.store.write({ kind: 'add_figures', minute, figures });
      before = after;
      isOut = false;
    } catch (error) {
      // What is not written counts in the next minute.
      if (!isOut) log.warn({ reason: messageOf(error) }, 'the figures of the last minute cannot be stored');
      isOut = true;
    }
    minute = minuteAt(clock.now());
  };
  let writing = Promise.resolve();
  const begin = (): void => {
    timer = clock.after(MINUTE_MS - (clock.now() % MINUTE_MS), () => {
      // One after the other: what a slow store has not taken yet must not be counted twice.
      writing = writing.then(write);
      begin();
    });
  };
  begin();
  return async () => {
    timer.cancel();
    await writing;
    await write();
  };
}

const minuteAt = (now: number): number => now - (now % MINUTE_MS);

async function waiting({ store, clock }: FigureContext): Promise<number> {
  const { backlog } = await store.read({ kind: 'overview', now: clock.now() });
  return Math.max(0, backlog.runs) + backlog.deliveries;
}

function between(before: RequestTotals, after: RequestTotals): Omit<Figures, 'waiting'> {
  const counts = { taken: 0, ignored: 0, duplicate: 0, refused: 0, failed: 0 };
  for (const [outcome, value] of Object.entries(after.byOutcome)) {
    const name = Object.hasOwn(COUNTED, outcome) ? COUNTED[outcome as Outcome] : null;
    if (name !== null) counts[name] += value - (before.byOutcome[outcome] ?? 0);
  }
  const durations = after.durations.map((count, at) => count - (before.durations[at] ?? 0));
  return { ...counts, half_us: below(durations, 0.5), most_us: below(durations, 0.95) };
}

/** The time in microseconds below which this part of the durations is, read off within the bounds of its bucket. */
function below(counts: readonly number[], part: number): number {
  let left = counts.reduce((sum, count) => sum + count, 0) * part;
  for (const [at, count] of counts.entries()) {
    const from = REQUEST_SECONDS[at - 1] ?? 0;
    const to = REQUEST_SECONDS[at] ?? from;
    if (count > 0 && left <= count) return Math.round((from + ((to - from) * left) / count) * 1e6);
    left -= count;
  }
  return 0;
}
