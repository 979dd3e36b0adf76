/**
 * Counters and histograms as plain numbers: printed in Prometheus' text format (version 0.0.4), and stored by the minute
 * for charts.
 */
import { messageOf } from '../../../base/errors.ts';
import { ERROR_GROUPS } from '../../../runtime/intake/reason-codes.ts';
import { ACCEPTED_OUTCOMES } from '../../../runtime/intake/reply.ts';
import type { FigureContext, FigureRecorder } from '../../../runtime/metrics/metrics.ts';
import type { Timer } from '../../../runtime/platform/clock.ts';
import type { FigureCount, Figures } from '../../../runtime/store/figures.ts';
import { minuteAt } from '../../../runtime/store/figures.ts';

/** Counters and histograms as plain numbers, and their form in Prometheus' text format (version 0.0.4). */
type Labels = Readonly<Record<string, string>>;

interface Sample {
  /** For example `_bucket`; default: none. */
  readonly suffix?: string;
  readonly labels?: Labels;
  readonly value: number;
}

export type Samples = readonly Sample[];

/** Values of the labels, in order; a null value leaves its label out. */
type LabelValues = readonly (string | null)[];

const ABSENT = '\0';
const keyOf = (values: LabelValues): string => values.map((value) => value ?? ABSENT).join('\n');

function labelsOf(key: string, names: readonly string[]): Labels {
  const values = names.length === 0 ? [] : key.split('\n');
  return Object.fromEntries(values.flatMap((value, at) => (value === ABSENT ? [] : [[names[at] ?? '', value]])));
}

export class Totals {
  private readonly labels: readonly string[];
  private readonly byKey = new Map<string, number>();

  constructor(...labels: readonly string[]) {
    this.labels = labels;
  }

  add(...values: LabelValues): void {
    this.addBy(1, ...values);
  }

  addBy(amount: number, ...values: LabelValues): void {
    const key = keyOf(values);
    this.byKey.set(key, (this.byKey.get(key) ?? 0) + amount);
  }

  /** @param known label values that start at 0, because a series that starts at 1 shows no increase */
  samples(known: readonly LabelValues[] = []): Samples {
    const byKey = new Map([...known.map((values) => [keyOf(values), 0] as const), ...this.byKey]);
    return Array.from(byKey, ([key, value]) => ({ labels: labelsOf(key, this.labels), value }));
  }
}

interface Measured {
  /** Counts by bucket; the last counts values above all bounds. */
  readonly counts: number[];
  seconds: number;
}

export class Durations {
  private readonly bounds: readonly number[];
  private readonly labels: readonly string[];
  private readonly byKey = new Map<string, Measured>();

  /** @param bounds of the buckets, in seconds */
  constructor(bounds: readonly number[], ...labels: readonly string[]) {
    this.bounds = bounds;
    this.labels = labels;
    // Without labels, the series exists from the start.
    if (labels.length === 0) this.of('');
  }

  add(ms: number, ...values: LabelValues): void {
    const seconds = ms / 1000;
    const histogram = this.of(keyOf(values));
    const found = this.bounds.findIndex((bound) => seconds <= bound);
    const bucket = found < 0 ? this.bounds.length : found;
    histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
    histogram.seconds += seconds;
  }

  /** Counts by bucket of the series without labels; the last counts values above all bounds. */
  counts(): readonly number[] {
    return [...this.of('').counts];
  }

  /** Each bucket includes the smaller ones. @param known as in `Totals` */
  samples(known: readonly LabelValues[] = []): Samples {
    const byKey = new Map([...known.map((values) => [keyOf(values), this.none()] as const), ...this.byKey]);
    return [...byKey].flatMap(([key, { counts, seconds }]) => {
      const labels = labelsOf(key, this.labels);
      let count = 0;
      const buckets = counts.map((own, at) => {
        count += own;
        return { suffix: '_bucket', labels: { le: String(this.bounds[at] ?? '+Inf'), ...labels }, value: count };
      });
      return [...buckets, { suffix: '_sum', labels, value: seconds }, { suffix: '_count', labels, value: count }];
    });
  }

  private of(key: string): Measured {
    const known = this.byKey.get(key) ?? this.none();
    this.byKey.set(key, known);
    return known;
  }

  private none(): Measured {
    return { counts: [...this.bounds, 0].fill(0), seconds: 0 };
  }
}

/** Samples of a gauge or counter with one label, by the label's value. */
export const byLabel = (label: string, values: Readonly<Record<string, number>>): Samples =>
  Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }));

/** @param name without the prefix of this program */
export function printMetric(
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  samples: Samples,
): string {
  const full = `hookwright_${name}`;
  const lines = samples.map(({ suffix = '', labels = {}, value }) => `${full}${suffix}${printLabels(labels)} ${value}`);
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...lines, ''].join('\n');
}

function printLabels(labels: Labels): string {
  const printed = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return printed.length === 0 ? '' : `{${printed.join(',')}}`;
}

const escapeLabel = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

/**
 * Stores the traffic of each minute, for the charts: counts every few seconds, so that a kill loses few, and response times and
 * waiting work when the minute is over. It reads counters that exist anyway, so an event costs nothing. A minute without events
 * and waiting work is not stored.
 */

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

/** Counts of this time are lost if the process is killed. */
const WRITE_MS = 5000;

/** The figure that counts this outcome; null: it is no event. */
function figureOf(outcome: string): FigureCount | null {
  if (outcome === 'ignored' || outcome === 'duplicate') return outcome;
  const isOneOf = (all: Iterable<string>): boolean => [...all].includes(outcome);
  if (isOneOf(ACCEPTED_OUTCOMES)) return 'taken';
  return isOneOf(ERROR_GROUPS.rejected) ? 'refused' : isOneOf(ERROR_GROUPS.failed) ? 'failed' : null;
}

export function recordFigures(context: RecordContext): FigureRecorder {
  const { clock, log } = context;
  /** The totals when counts were last stored, and when the minute began. */
  let [stored, before] = [context.totals(), context.totals()];
  let minute = minuteAt(clock.now());
  let timer: Timer;
  let isOut = false;
  const write = async (isLast = false): Promise<void> => {
    const after = context.totals();
    const isOver = isLast || minuteAt(clock.now()) !== minute;
    try {
      const levels = isOver ? { ...timesBetween(before, after), waiting: await waiting(context) } : NO_LEVELS;
      const figures = { ...countsBetween(stored, after), ...levels };
      if (Object.values(figures).some((value) => value > 0))
        await context.store.write({ kind: 'add_figures', minute, figures });
      stored = after;
      if (isOver) before = after;
      isOut = false;
    } catch (error) {
      // Counts that could not be stored are added to the next minute.
      if (!isOut) log.warn({ reason: messageOf(error) }, 'could not store the metrics of the last minute');
      isOut = true;
    }
    minute = minuteAt(clock.now());
  };
  let writing = Promise.resolve();
  // One write at a time: counts that a slow store has not accepted yet must not be counted twice.
  const store = (isLast?: boolean): Promise<void> => {
    writing = writing.then(() => write(isLast));
    return writing;
  };
  const begin = (): void => {
    timer = clock.after(WRITE_MS - (clock.now() % WRITE_MS), () => {
      void store();
      begin();
    });
  };
  begin();
  const end = (): Promise<void> => {
    timer.cancel();
    return store(true);
  };
  return { store: () => store(), end };
}

/** Before a minute is over: the store keeps the greatest value, which would not be that of the whole minute. */
const NO_LEVELS = { half_us: 0, most_us: 0, waiting: 0 };

async function waiting({ store, clock }: FigureContext): Promise<number> {
  const { backlog } = await store.read({ kind: 'overview', now: clock.now() });
  return Math.max(0, backlog.runs) + backlog.deliveries;
}

function countsBetween(before: RequestTotals, after: RequestTotals): Record<FigureCount, number> {
  const counts = { taken: 0, ignored: 0, duplicate: 0, refused: 0, failed: 0 };
  for (const [outcome, value] of Object.entries(after.byOutcome)) {
    const name = figureOf(outcome);
    if (name !== null) counts[name] += value - (before.byOutcome[outcome] ?? 0);
  }
  return counts;
}

function timesBetween(before: RequestTotals, after: RequestTotals): Pick<Figures, 'half_us' | 'most_us'> {
  const durations = after.durations.map((count, at) => count - (before.durations[at] ?? 0));
  return { half_us: below(durations, 0.5), most_us: below(durations, 0.95) };
}

/** The quantile `part` of the durations, in microseconds, interpolated within its bucket. */
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
