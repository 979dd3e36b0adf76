/**
 * Reads the answer, the usage, the reason of a failure and the id of the conversation from what a program printed, as the data
 * of its entry says. Whatever it printed is untrusted: values of other types count as missing.
 */

import { tryParseJson } from '../../../base/files.ts';
import { splitField } from '../../../base/paths.ts';
import { isBlank } from '../../../base/text.ts';
import { reach } from '../../../runtime/dispatch/agents/printed.ts';
import type { Usage } from '../../../runtime/store/usage.ts';
import { addReported, toUsage } from '../../../runtime/store/usage.ts';
import { valueAtPath } from '../../../runtime/verify/items.ts';
import type { AgentOutput, AgentUsage, PrintedCondition, PrintedText } from '../../../schemas/generated/types.ts';

export interface PrintedResult {
  /** Null: there is no complete answer. */
  readonly answer: string | null;
  /** Why there is none; null: it does not say. */
  readonly reason: string | null;
  /** The HTTP status of the model's server that goes with the reason. */
  readonly status: number | null;
  readonly usage: Usage | null;
  readonly id: string | null;
  /** What the program itself said of a failure: the model's text is not in it. */
  readonly said: string;
}

/** @param texts stdout, and stderr, which counts if there is no JSON in stdout: some print errors there */
export function readPrinted(
  [stdout = '', stderr = '']: readonly string[],
  { ended, answer, errors = [], usage, id }: AgentOutput,
): PrintedResult {
  const inStdout = parsePrinted(stdout);
  const printed = inStdout.length > 0 ? inStdout : parsePrinted(stderr.slice(Math.max(0, stderr.lastIndexOf('\n{\n'))));
  const isComplete = ended === undefined || printed.some((value) => meets(value, ended));
  const found = isComplete ? textIn(printed, answer) : null;
  const failures = errors.map((place) => ({ place, reason: textIn(printed, place) }));
  const failure = failures.find(({ reason }) => reason !== null);
  const reason = failure?.reason?.trim() ?? null;
  return {
    said: [reason, stderr, inStdout.length > 0 ? '' : stdout].join('\n'),
    answer: found === null || isBlank(found) ? null : found,
    reason,
    status: failure === undefined ? null : statusIn(printed, failure.place),
    usage: usage === undefined ? null : usageIn(printed, usage),
    id: id === undefined ? null : textIn(printed, id),
  };
}

/** False for a JSON object in one line that meets no condition: some programs print the whole text with each part that arrives. */
export function canMatter(line: Buffer, { ended, answer, errors = [], usage, id }: AgentOutput): boolean {
  const places = [answer, ...errors, ...(usage === undefined ? [] : [usage]), ...(id === undefined ? [] : [id])];
  const wanted = [
    ...places.map(({ where = {} }) => where),
    ...(answer.since ?? []),
    ...(ended === undefined ? [] : [ended]),
  ];
  // Cheaper than reading the JSON of each line.
  const named = wanted.filter((where) =>
    Object.values(where).every((value) => typeof value !== 'string' || line.includes(JSON.stringify(value))),
  );
  if (line[0] !== OPENING || !/\}\r?\n$/.test(line.toString('latin1', line.length - 3))) return true;
  const value = named.length === 0 ? null : tryParseJson(line.toString('utf8'));
  return value === undefined || named.some((where) => meets(value, where));
}

const OPENING = '{'.charCodeAt(0);

/** In the order in which they were printed: one value, also between lines of other text, the members of a list, or one value a line. */
function parsePrinted(text: string): readonly unknown[] {
  const whole = tryParseJson(text) ?? tryParseJson(/^\{$[\s\S]*^\}$/m.exec(text)?.[0] ?? '');
  if (whole !== undefined) return Array.isArray(whole) ? whole : [whole];
  return text.split('\n').flatMap((line) => {
    const value = tryParseJson(line);
    return value === undefined ? [] : [value];
  });
}

function meets(value: unknown, where: PrintedCondition = {}): boolean {
  return Object.entries(where).every(([path, wanted]) => {
    const found = valueAtPath(value, splitField(path)) ?? null;
    return Array.isArray(wanted) ? wanted.some((one) => one === found) : wanted === found;
  });
}

/** The values that the place names, in their order. */
function valuesFor(printed: readonly unknown[], { where, since }: PrintedText): readonly unknown[] {
  const from = since === undefined ? 0 : 1 + printed.findLastIndex((value) => since.some((one) => meets(value, one)));
  return printed.slice(from).filter((value) => meets(value, where));
}

/** Null if there is no text. Several texts of one value are joined. */
function textIn(printed: readonly unknown[], place: PrintedText): string | null {
  const texts = valuesFor(printed, place).flatMap((value) => {
    const parts = reach(value, splitField(place.path)).filter((part) => typeof part === 'string');
    const text = parts.join('');
    const { except } = place;
    return parts.length === 0 || (except !== undefined && text.startsWith(except)) ? [] : [text];
  });
  return (place.joined === true ? texts.join('') || null : texts.at(-1)) ?? null;
}

function statusIn(printed: readonly unknown[], place: PrintedText): number | null {
  if (place.status === undefined) return null;
  const status = valueAtPath(valuesFor(printed, place).at(-1), splitField(place.status));
  return typeof status === 'number' ? status : null;
}

/** Null if nothing is reported, or nothing that can be a number of tokens or a cost. */
function usageIn(printed: readonly unknown[], { where, input, output, cost }: AgentUsage): Usage | null {
  const values = printed.filter((value) => meets(value, where));
  const sumAt = (paths: readonly string[] = []): number | null =>
    values
      .flatMap((value) => paths.flatMap((path) => reach(value, splitField(path))))
      .reduce<number | null>((sum, found) => (typeof found === 'number' ? addReported(sum, found) : sum), null);
  return toUsage(sumAt(input), sumAt(output), sumAt(cost));
}
