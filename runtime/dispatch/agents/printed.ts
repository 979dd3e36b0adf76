/**
 * Reads the answer and the usage from the output of a program. JSON is one value, or one value a line, as programs print that
 * report progress. Of several lines, the last one that has a value at the path counts.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegularText, tryParseJson } from '../../../base/files.ts';
import type { CommandAgentPlan, UsagePathsPlan } from '../../../schemas/generated/types.ts';
import type { ProcessResult } from '../../platform/process/run-process.ts';
import { storedTail, tailText } from '../../platform/process/stderr-tail.ts';
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

function reach(value: unknown, path: readonly string[]): readonly unknown[] {
  const star = path.indexOf('*');
  const found = valueAtPath(value, star < 0 ? path : path.slice(0, star));
  if (star < 0) return [found];
  if (typeof found !== 'object' || found === null) return [];
  const rest = path.slice(star + 1);
  return Object.values(found).flatMap((member) => (rest.length === 0 ? [member] : reach(member, rest)));
}

const MAX_USAGE_BYTES = 64 * 1024;

/** A unique path. @param folder the folder that the program works in */
export const usagePath = (folder: string): string => join(folder, `.hookwright-usage-${randomUUID()}.json`);

/** Reads the file and removes it; null if it does not exist or reports no usage. Never rejects. */
export async function takeUsage(path: string): Promise<Usage | null> {
  const text = await readRegularText(path, MAX_USAGE_BYTES).catch(() => null);
  if (text === null) return null;
  await rm(path, { force: true }).catch(() => {});
  const fileContent = tryParseJson(text);
  if (typeof fileContent !== 'object' || fileContent === null) return null;
  const { input_tokens, output_tokens, cost } = fileContent as Readonly<Record<string, unknown>>;
  return toUsage(input_tokens, output_tokens, cost);
}

/** The end of what a program printed that wrote nothing to stderr: many report their errors there. */
export const printedBy = (result: ProcessResult, redact: (text: string) => string): string =>
  'stdout' in result ? storedTail(tailText(result.stdout ?? Buffer.alloc(0)), redact).trim() : '';

export const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.trim() ?? '';
