/** The usage that agents report: stored for each run with its result, and summed. */
import type { Usage } from '../../schemas/built/operations/types.ts';

export type {
  Usage,
  UsageSum,
} from '../../schemas/built/operations/types.ts';

/** The usage of one run, and the agent that is charged for it. */
export interface RunUsage extends Usage {
  /** Null: the default agent of the profile. */
  readonly agent: string | null;
}

/** Larger values are mistakes; sums of smaller ones stay exact. */
export const MOST_USED = 1e12;

export const isAmount = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= MOST_USED;
const amountOf = (value: unknown): number | null => (isAmount(value) ? (value as number) : null);
const countOf = (value: unknown): number | null => (Number.isInteger(value) ? amountOf(value) : null);

/** The usage with these values; null when none of them can be a count or an amount. */
export function toUsage(input: unknown, output: unknown, cost: unknown): Usage | null {
  const usage = { input_tokens: countOf(input), output_tokens: countOf(output), cost: amountOf(cost) };
  return Object.values(usage).every((value) => value === null) ? null : usage;
}

/** The sum of the reported tokens. */
export const tokensOf = ({ input_tokens, output_tokens }: Usage): number => (input_tokens ?? 0) + (output_tokens ?? 0);

/** Adds two amounts; null only if neither is reported. */
export const addReported = (a: number | null, b: number | null): number | null => (a === null ? b : a + (b ?? 0));

export const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: addReported(a.input_tokens, b.input_tokens),
  output_tokens: addReported(a.output_tokens, b.output_tokens),
  cost: addReported(a.cost, b.cost),
});

/** Limits, or the usage of them: `20 runs, cost 1.5`. */
export function amountsText({ runs, tokens, cost }: Record<'runs' | 'tokens' | 'cost', number | null>): string {
  const counted = [[runs, 'run'] as const, [tokens, 'token'] as const].flatMap(([count, unit]) =>
    count === null || count === 0 ? [] : [`${count} ${unit}${count === 1 ? '' : 's'}`],
  );
  return [...counted, ...(cost === null || cost === 0 ? [] : [`cost ${cost}`])].join(', ');
}
