/** Counters and histograms as plain numbers, and their form in Prometheus' text format (version 0.0.4). */

export interface Sample {
  /** Such as `_bucket`; default: none. */
  readonly suffix?: string;
  /** Labels with the value null are left out. */
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly value: number;
}

type LabelValues = readonly (string | null)[];

/** One value for each combination of the values of its labels. */
class Series<Value> {
  private readonly labels: readonly string[];
  private readonly create: (labels: Readonly<Record<string, string | null>>) => Value;
  private readonly byKey = new Map<string, Value>();

  constructor(labels: readonly string[], create: Series<Value>['create']) {
    this.labels = labels;
    this.create = create;
  }

  of(values: LabelValues): Value {
    const key = values.join('\n');
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    const value = this.create(Object.fromEntries(this.labels.map((label, at) => [label, values[at] ?? null])));
    this.byKey.set(key, value);
    return value;
  }

  all(): Iterable<Value> {
    return this.byKey.values();
  }
}

/** A counter. */
export class Counts {
  private readonly series: Series<{ labels: Sample['labels'] & {}; value: number }>;

  constructor(...labels: readonly string[]) {
    this.series = new Series(labels, (values) => ({ labels: values, value: 0 }));
  }

  /** Adds one. @param values of the labels, in their order */
  add(...values: LabelValues): void {
    this.series.of(values).value++;
  }

  samples(): Iterable<Sample> {
    return this.series.all();
  }
}

interface Histogram {
  readonly labels: Sample['labels'] & {};
  /** By bucket; the last one is for what exceeds all bounds. */
  readonly counts: number[];
  sum: number;
}

/** A histogram of durations. */
export class Durations {
  private readonly bounds: readonly number[];
  private readonly series: Series<Histogram>;

  /** @param bounds of the buckets, in seconds */
  constructor(bounds: readonly number[], ...labels: readonly string[]) {
    this.bounds = bounds;
    this.series = new Series(labels, (values) => ({
      labels: values,
      counts: Array.from({ length: bounds.length + 1 }, () => 0),
      sum: 0,
    }));
    // Without labels there is one from the start.
    if (labels.length === 0) this.series.of([]);
  }

  /** @param values of the labels, in their order */
  add(ms: number, ...values: LabelValues): void {
    const seconds = ms / 1000;
    const histogram = this.series.of(values);
    const bucket = this.bounds.findIndex((bound) => seconds <= bound);
    const at = bucket < 0 ? this.bounds.length : bucket;
    histogram.counts[at] = (histogram.counts[at] ?? 0) + 1;
    histogram.sum += seconds;
  }

  /** Each bucket counts what the ones before it count. */
  readonly samples = (): Iterable<Sample> =>
    [...this.series.all()].flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = counts.map((inBucket, at) => {
        count += inBucket;
        return { suffix: '_bucket', labels: { le: String(this.bounds[at] ?? '+Inf'), ...labels }, value: count };
      });
      return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: count }];
    });
}

/** @param name without the prefix of this program */
export function printMetric(
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  samples: Iterable<Sample>,
): string {
  const full = `hookwright_${name}`;
  const lines = Array.from(
    samples,
    ({ suffix = '', labels = {}, value }) => `${full}${suffix}${printLabels(labels)} ${value}`,
  );
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, ...lines, ''].join('\n');
}

function printLabels(labels: Sample['labels'] & {}): string {
  const printed = Object.entries(labels).flatMap(([name, value]) =>
    value === null ? [] : [`${name}="${escaped(value)}"`],
  );
  return printed.length === 0 ? '' : `{${printed.join(',')}}`;
}

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
