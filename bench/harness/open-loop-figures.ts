/** Figures of an open-loop run: counts by status, latencies, and the recovery time after an overload. */
import type { OpenLoopResult } from './open-loop.ts';
import { BROKEN, UNANSWERED } from './open-loop.ts';
import { percentile } from './stats.ts';

export interface Latencies {
  readonly count: number;
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

export interface OpenLoopFigures {
  /** By status: `202`, `503`, …, `broken`, `unanswered`. */
  readonly statuses: ReadonlyMap<string, Latencies>;
  /** p99 of the delay of the load generator itself. */
  readonly late: number;
}

const nameOf = (status: number): string =>
  status === BROKEN ? 'broken' : status === UNANSWERED ? 'unanswered' : String(status);

/** Figures of the requests that were due in a span of time, in ms since the start. */
export function figuresOf(result: OpenLoopResult, from = 0, to: number = Number.POSITIVE_INFINITY): OpenLoopFigures {
  const latencies = new Map<string, number[]>();
  const late: number[] = [];
  for (const [index, due] of result.due.entries()) {
    if (due < from || due >= to) continue;
    const name = nameOf(result.status[index] ?? UNANSWERED);
    const list = latencies.get(name) ?? [];
    list.push(result.latency[index] ?? Number.NaN);
    latencies.set(name, list);
    late.push(result.late[index] ?? Number.NaN);
  }
  const statuses = new Map([...latencies].map(([name, list]) => [name, latenciesOf(list)]));
  return { statuses, late: percentile(Float64Array.from(late).sort(), 0.99) };
}

function latenciesOf(list: readonly number[]): Latencies {
  const sorted = Float64Array.from(list).sort();
  return {
    count: sorted.length,
    median: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    max: percentile(sorted, 1),
  };
}

const BUCKET_MS = 200;

/**
 * Ms from `from` until all responses stay normal: every request gets 202, nine in ten of them within `limit` ms.
 * Evaluated in spans of 200 ms by due time.
 */
export function normalAfter({ due, status, latency }: OpenLoopResult, from: number, limit: number): number {
  const buckets = new Map<number, { slow: number; count: number; refused: boolean }>();
  for (const [index, at] of due.entries()) {
    if (at < from) continue;
    const key = Math.floor((at - from) / BUCKET_MS);
    const bucket = buckets.get(key) ?? { slow: 0, count: 0, refused: false };
    bucket.count++;
    if ((latency[index] ?? 0) > limit) bucket.slow++;
    if (status[index] !== 202) bucket.refused = true;
    buckets.set(key, bucket);
  }
  const abnormal = [...buckets].filter(([, { slow, count, refused }]) => refused || slow > count / 10);
  return abnormal.length === 0 ? 0 : (Math.max(...abnormal.map(([key]) => key)) + 1) * BUCKET_MS;
}
