/** Sums what runs have used by route, agent, job or day. */
import type { Usage, UsageSum } from '../../../runtime/store/usage.ts';
import { addUsage } from '../../../runtime/store/usage.ts';

export const GROUPS = ['route', 'agent', 'job', 'day'] as const;
export type UsageGroup = (typeof GROUPS)[number];

export interface UsedBy extends Usage {
  /** Null where the sum is over all profiles. */
  readonly profile: string | null;
  readonly name: string;
  readonly runs: number;
}

/** Days of every zone begin at a whole number of these, in ms since 1970. */
export const SLOT_MS = 900_000;

const DEFAULT_AGENT = 'default';

/** The name of a sum in its group; null: it belongs to none. */
const NAMES: Readonly<Record<UsageGroup, (sum: UsageSum, dayOf: (at: number) => string) => string | null>> = {
  route: ({ route, job }) => route ?? (job === null ? null : `job ${job}`),
  agent: ({ agent }) => agent ?? DEFAULT_AGENT,
  job: ({ job }) => job,
  day: ({ slot }, dayOf) => dayOf(slot),
};

/**
 * Days in their order; otherwise what cost most, or else used most tokens, first.
 * @param dayOf the date of an instant (Unix ms)
 */
export function sumUsage(sums: readonly UsageSum[], by: UsageGroup, dayOf: (at: number) => string): readonly UsedBy[] {
  const found = new Map<string, UsedBy>();
  for (const sum of sums) {
    const name = NAMES[by](sum, dayOf);
    if (name === null) continue;
    const profile = by === 'day' ? null : sum.profile;
    const key = JSON.stringify([profile, name]);
    const before = found.get(key);
    const { input_tokens, output_tokens, cost } = before === undefined ? sum : addUsage(before, sum);
    found.set(key, { profile, name, runs: (before?.runs ?? 0) + sum.runs, input_tokens, output_tokens, cost });
  }
  const rows = [...found.values()];
  const weigh = weightBy(rows);
  return by === 'day'
    ? rows.sort((a, b) => (a.name < b.name ? -1 : 1))
    : rows.sort((a, b) => weigh(b) - weigh(a) || (a.name < b.name ? -1 : 1));
}

/** What rows are compared by: their cost where any is told, else their tokens. */
export function weightBy(rows: readonly Usage[]): (row: Usage) => number {
  const hasCost = rows.some(({ cost }) => cost !== null);
  return ({ cost, input_tokens, output_tokens }) =>
    hasCost ? (cost ?? 0) : (input_tokens ?? 0) + (output_tokens ?? 0);
}
