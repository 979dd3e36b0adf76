/** Formats durations in messages. */

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** Uses the largest unit that gives a multiple of one half: `3 days`, `1.5 hours`, `90 seconds`. */
export function printDuration(seconds: number): string {
  const [size, name] = UNITS.find(([unit]) => seconds >= unit && Number.isInteger((seconds / unit) * 2)) ?? [
    1,
    'second',
  ];
  const count = Math.round((seconds / size) * 100) / 100;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
