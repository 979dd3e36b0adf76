/**
 * Figures of traffic for charts, by the minute. Stored for seven days: at most 10,080 rows of small numbers, less than
 * a megabyte. Counts of gateways that share a store are added; of times and backlogs, the maximum counts.
 */
import type { FigureSum } from '../../schemas/built/operations/types.ts';

export type { FigureSum } from '../../schemas/built/operations/types.ts';

/** Requests of routes by result; gateways' counts are added. `failed`: not the sender's fault. */
export const FIGURE_COUNTS = ['taken', 'ignored', 'duplicate', 'refused', 'failed'] as const;
/** Response times in microseconds (median and 95th percentile), and the pending work. The maximum counts. */
const FIGURE_LEVELS = ['half_us', 'most_us', 'waiting'] as const;
export const FIGURES = [...FIGURE_COUNTS, ...FIGURE_LEVELS] as const;

export type FigureCount = (typeof FIGURE_COUNTS)[number];
export type Figures = Omit<FigureSum, 'slot'>;

/** Adds the counts of one gateway for a minute. */
export interface AddFigures {
  readonly kind: 'add_figures';
  /** Unix ms at which the minute began. */
  readonly minute: number;
  readonly figures: Figures;
}

const MINUTE_MS = 60_000;

/** The start of a minute. Figures, and lists and counts of a range until now, begin with a whole minute, so that they agree. */
export const minuteAt = (at: number): number => at - (at % MINUTE_MS);

const KEPT_MS = 7 * 24 * 3_600_000;

/** Unix ms; earlier minutes are deleted when this one is added. */
export const forgottenBefore = (minute: number): number => minute - KEPT_MS;

/** Columns of a sum, for a `SELECT` with `GROUP BY`. */
export const FIGURE_SUMS: readonly string[] = [
  ...FIGURE_COUNTS.map((name) => `sum(${name}) AS ${name}`),
  ...FIGURE_LEVELS.map((name) => `max(${name}) AS ${name}`),
];

/** The assignments of an upsert. @param greatest the engine's function for the greater of two numbers */
export const addedFigures = (greatest: 'max' | 'greatest'): string =>
  [
    ...FIGURE_COUNTS.map((name) => `${name} = figure.${name} + excluded.${name}`),
    ...FIGURE_LEVELS.map((name) => `${name} = ${greatest}(figure.${name}, excluded.${name})`),
  ].join(', ');
