/** Counters and histograms as plain numbers, and their form in Prometheus' text format (version 0.0.4). */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** Such as `_bucket`; default: none. */
  readonly suffix?: string;
  readonly labels?: Labels;
  readonly value: number;
}

/** The values of the labels, in their order; a label whose value is null is left out. */
type LabelValues = readonly (string | null)[];

const ABSENT = '\0';
const keyOf = (values: LabelValues): string => values.map((value) => value ?? ABSENT).join('\n');

function labelsOf(key: string, names: readonly string[]): Labels {
  const values = names.length === 0 ? [] : key.split('\n');
  return Object.fromEntries(values.flatMap((value, at) => (value === ABSENT ? [] : [[names[at] ?? '', value]])));
}

/** A counter. */
export class Totals {
  private readonly labels: readonly string[];
  private readonly byKey = new Map<string, number>();

  constructor(...labels: readonly string[]) {
    this.labels = labels;
  }

  /** Adds one. */
  add(...values: LabelValues): void {
    this.addBy(1, ...values);
  }

  addBy(amount: number, ...values: LabelValues): void {
    const key = keyOf(values);
    this.byKey.set(key, (this.byKey.get(key) ?? 0) + amount);
  }

  /** @param known those that are 0 before they are added to, because the increase of a series that begins at 1 is 0 */
  samples(known: readonly LabelValues[] = []): readonly Sample[] {
    const byKey = new Map([...known.map((values) => [keyOf(values), 0] as const), ...this.byKey]);
    return Array.from(byKey, ([key, value]) => ({ labels: labelsOf(key, this.labels), value }));
  }
}

interface Measured {
  /** By bucket, the last one for what exceeds all bounds. */
  readonly counts: number[];
  seconds: number;
}

/** A histogram of durations. */
export class Durations {
  private readonly bounds: readonly number[];
  private readonly labels: readonly string[];
  private readonly byKey = new Map<string, Measured>();

  /** @param bounds of the buckets, in seconds */
  constructor(bounds: readonly number[], ...labels: readonly string[]) {
    this.bounds = bounds;
    this.labels = labels;
    // Without labels there is one from the start.
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

  /** The counts of each bucket so far, of one without labels; the last is of what exceeds all bounds. */
  counts(): readonly number[] {
    return [...this.of('').counts];
  }

  /** Each bucket includes those before it. @param known as those of `Totals` */
  samples(known: readonly LabelValues[] = []): readonly Sample[] {
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
export const byLabel = (label: string, values: Readonly<Record<string, number>>): readonly Sample[] =>
  Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }));

/** @param name without the prefix of this program */
export function printMetric(
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  samples: readonly Sample[],
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
