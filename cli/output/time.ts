/** Formats spans of time. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** `2 h 5 min`, `40 s`: the two largest units. */
export function formatDuration(ms: number): string {
  let left = Math.max(0, ms);
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}
