/**
 * The answer and the usage in what a program printed as JSON: one value, or one a line, as programs print that report their
 * progress. Of lines, the last one at which a path leads somewhere counts.
 */
import { tryParseJson } from '../../../base/try-parse-json.ts';
import type { UsagePathsPlan } from '../../../schemas/generated/types.ts';
import type { Usage } from '../../store/usage.ts';
import { addTold, toUsage } from '../../store/usage.ts';
import { linkPath, readPath } from '../../table/payload-path.ts';

/** The values that a program printed, the last one first. */
export type Printed = readonly unknown[];

export function parsePrinted(text: string): Printed {
  const whole = tryParseJson(text);
  if (whole !== undefined) return [whole];
  const lines = text.split('\n').map((line) => tryParseJson(line));
  return lines.filter((value) => value !== undefined).reverse();
}

/** The text at the path; null when there is none. */
export function textAt(printed: Printed, path: readonly string[]): string | null {
  const linked = linkPath(path);
  if (linked === null) return null;
  return printed.map((value) => readPath(value, linked)).find((found) => typeof found === 'string') ?? null;
}

/** Null when nothing is told, or nothing that can be a number of tokens or a cost. */
export function usageIn(printed: Printed, { input, output, cost }: UsagePathsPlan): Usage | null {
  const sumOf = (paths: readonly (readonly string[])[]): number | null =>
    paths.map((path) => sumAt(printed, path)).reduce((sum, value) => addTold(sum, value), null);
  return toUsage(sumOf(input), sumOf(output), sumOf(cost));
}

/** The number at the path; of all members where a part is `*`, their sum. */
function sumAt(printed: Printed, path: readonly string[]): number | null {
  for (const value of printed) {
    const numbers = reach(value, path).filter((found): found is number => typeof found === 'number');
    if (numbers.length > 0) return numbers.reduce((sum, number) => sum + number, 0);
  }
  return null;
}

function reach(value: unknown, path: readonly string[]): readonly unknown[] {
  const star = path.indexOf('*');
  const linked = linkPath(star < 0 ? path : path.slice(0, star));
  const found = star === 0 ? value : linked === null ? undefined : readPath(value, linked);
  if (star < 0) return [found];
  if (typeof found !== 'object' || found === null) return [];
  const rest = path.slice(star + 1);
  return Object.values(found).flatMap((member) => (rest.length === 0 ? [member] : reach(member, rest)));
}
