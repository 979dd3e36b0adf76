/** Reads what is stored of a budget: its body, and its key in words. */
import type { BudgetBody } from './budget.ts';
import { decodeOr, isCount, isInstant, isText, orNull } from './decode.ts';
import { isAmount } from './usage.ts';

/** A budget by its key, in words: `route review per hour`. */
export function budgetName(key: string): string {
  const [kind = '', ...rest] = decodeOr<readonly (string | null)[]>(key, isKey, []);
  const per = rest.pop() ?? '';
  const [profile = null, name = null] = kind === 'job' ? [null, ...rest] : rest;
  const of = kind === 'agent' ? (name ?? 'default') : (name ?? '');
  const where = profile === null || profile === 'default' ? '' : ` (profile ${profile})`;
  return `${kind}${of === '' ? '' : ` ${of}`}${where} per ${per}`;
}

interface Amounts {
  readonly runs: number | null;
  readonly tokens: number | null;
  readonly cost: number | null;
}

/** Limits, or what was spent: `20 runs, cost 1.5`. */
export function budgetAmounts({ runs, tokens, cost }: Amounts): string {
  const counted = [[runs, 'run'] as const, [tokens, 'token'] as const].flatMap(([count, unit]) =>
    count === null || count === 0 ? [] : [`${count} ${unit}${count === 1 ? '' : 's'}`],
  );
  return [...counted, ...(cost === null || cost === 0 ? [] : [`cost ${cost}`])].join(', ');
}

const isKey = (value: unknown): boolean => Array.isArray(value) && value.every(orNull(isText));

/** A stored body; null: there is none, or it is damaged. */
export const readBudget = (body: string | undefined): BudgetBody | null =>
  decodeOr<BudgetBody | null>(body, isBudget, null);

function isBudget(value: unknown): boolean {
  const body = (value ?? {}) as Partial<BudgetBody>;
  return (
    [body.since, body.until].every(isInstant) &&
    isCount(body.runs) &&
    [body.tokens, body.cost].every(isAmount) &&
    typeof body.refused === 'boolean'
  );
}
