/**
 * Reads the answer and the usage from the output of a program. JSON is one value, or one value a line, as programs print that
 * report progress. Of several lines, the last one that has a value at the path counts.
 */
import { tryParseJson } from '../../../base/files.ts';
import type { CommandAgentPlan, UsagePathsPlan } from '../../../schemas/generated/types.ts';
import type { ProcessResult } from '../../platform/process/run-process.ts';
import type { Usage } from '../../store/usage.ts';
import { addReported, toUsage } from '../../store/usage.ts';
import { valueAtPath } from '../../verify/items.ts';

/** The answer is null if it is not at its path. */
export function readOutput(
  { answer_path: answer, usage_paths: usage }: CommandAgentPlan,
  result: ProcessResult,
): { readonly text: string | null; readonly usage: Usage | null } {
  const text = result.kind === 'exit' ? result.stdout.toString('utf8') : '';
  if (answer === undefined && usage === undefined) return { text, usage: null };
  const printed = parsePrinted(text);
  return {
    text: answer === undefined ? text : textAt(printed, answer),
    usage: usage === undefined ? null : usageIn(printed, usage),
  };
}

/** The printed values, last one first. */
type Printed = readonly unknown[];

function parsePrinted(text: string): Printed {
  const whole = tryParseJson(text);
  if (whole !== undefined) return [whole];
  const lines = text.split('\n').map((line) => tryParseJson(line));
  return lines.filter((value) => value !== undefined).reverse();
}

/** The text at the path; null when there is none. */
const textAt = (printed: Printed, path: readonly string[]): string | null =>
  printed.map((value) => valueAtPath(value, path)).find((found) => typeof found === 'string') ?? null;

/** Returns null if no value is reported, or none can be a number of tokens or a cost. */
function usageIn(printed: Printed, { input, output, cost }: UsagePathsPlan): Usage | null {
  const sumOf = (paths: readonly (readonly string[])[]): number | null =>
    paths.map((path) => sumAt(printed, path)).reduce((sum, value) => addReported(sum, value), null);
  return toUsage(sumOf(input), sumOf(output), sumOf(cost));
}

/** The number at the path. A `*` in the path means the sum over all members. */
function sumAt(printed: Printed, path: readonly string[]): number | null {
  for (const value of printed) {
    const numbers = reach(value, path).filter((found): found is number => typeof found === 'number');
    if (numbers.length > 0) return numbers.reduce((sum, number) => sum + number, 0);
  }
  return null;
}

/** The values at a path in which `*` stands for every member. */
export function reach(value: unknown, path: readonly string[]): readonly unknown[] {
  const star = path.indexOf('*');
  const found = valueAtPath(value, star < 0 ? path : path.slice(0, star));
  if (star < 0) return [found];
  if (typeof found !== 'object' || found === null) return [];
  return Object.values(found).flatMap((member) => reach(member, path.slice(star + 1)));
}
