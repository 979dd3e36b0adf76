/** A row of the open-loop table. */
import type { OpenLoopFigures } from '../../harness/open-loop-figures.ts';

export const HEADER = [
  'load',
  'sync',
  '202',
  '503',
  'other',
  'median',
  'p99',
  'max',
  'ratio',
  'goal',
  '503 p99',
  'resident',
  'normal after',
  'sent late',
];

export interface Row {
  readonly load: string;
  readonly sync: string;
  readonly figures: OpenLoopFigures;
  readonly ratio?: string;
  readonly goal?: string;
  readonly resident?: string;
  readonly normalAfter?: string;
}

export function printRow({ load, sync, figures, ...rest }: Row): string[] {
  const { statuses, late } = figures;
  const [accepted, refused] = [statuses.get('202'), statuses.get('503')];
  const others = [...statuses].filter(([name]) => name !== '202' && name !== '503');
  return [
    load,
    sync,
    String(accepted?.count ?? 0),
    String(refused?.count ?? 0),
    others.map(([name, { count }]) => `${count} ${name}`).join(', '),
    ...[accepted?.median, accepted?.p99, accepted?.max].map(ms),
    rest.ratio ?? '',
    rest.goal ?? '',
    refused === undefined ? '' : ms(refused.p99),
    rest.resident ?? '',
    rest.normalAfter ?? '',
    ms(late),
  ];
}

export const ms = (value: number | undefined): string => (value === undefined ? '' : `${value.toFixed(1)} ms`);

/** Resident sets over time, in bytes. */
export const megabytes = (...bytes: readonly number[]): string =>
  `${bytes.map((value) => (value / 1e6).toFixed(0)).join(' > ')} MB`;
