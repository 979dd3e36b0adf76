/**
 * Budgets: how many runs, tokens or how much cost a window of time may have. A budget is one row of the guard, which is read and
 * written in the change that stores a run, begins it or ends it: so neither runs at once, nor a kill, nor other gateways can
 * spend the same rest twice. Runs that are under way are not estimated: they may exceed the budget by what they use themselves.
 *
 *   accepted ──> full: refused          begins ──> full: the dispatch is skipped        ends ──> its usage is added
 *      └──> one run is reserved
 */
import type { BudgetSpan } from '../../schemas/built/operations/types.ts';
import { decodeOr, isCount, isInstant, isText, orNull } from './decode.ts';
import type { Usage } from './usage.ts';
import { isAmount, tokensOf } from './usage.ts';

export type { BudgetSpan } from '../../schemas/built/operations/types.ts';

/** A budget is full: nothing was stored but that. */
export interface OverBudget {
  readonly kind: 'over_budget';
  readonly budget: BudgetSpan;
  /** The first refusal of this window. */
  readonly first: boolean;
}

/** What was spent of a budget. */
export interface BudgetBody {
  /** The window that the counts belong to. */
  readonly since: number;
  readonly until: number;
  readonly runs: number;
  readonly tokens: number;
  readonly cost: number;
  /** It has refused a run in this window. */
  readonly refused: boolean;
}

/**
 * What was spent in the window of `now`. A window ends only when its end has passed, so that gateways in other zones do not begin it
 * anew; when the clock was set back, what was spent counts in the earlier window.
 */
export function spentAt(stored: BudgetBody | null, { since, until }: BudgetSpan, now: number): BudgetBody {
  if (stored === null || now >= stored.until) return { since, until, runs: 0, tokens: 0, cost: 0, refused: false };
  return now < stored.since ? { ...stored, since, until } : stored;
}

/** Whether no further run may be accepted, or begin. */
export const isFull = ({ runs, tokens, cost }: BudgetBody, budget: BudgetSpan, accepting: boolean): boolean =>
  (accepting && budget.runs !== null && runs >= budget.runs) ||
  (budget.tokens !== null && tokens >= budget.tokens) ||
  (budget.cost !== null && cost >= budget.cost);

/** Adds what a run has used. */
export const spend = (spent: BudgetBody, usage: Usage): BudgetBody => ({
  ...spent,
  tokens: spent.tokens + tokensOf(usage),
  cost: spent.cost + (usage.cost ?? 0),
});

/** A budget by its key, in words: `route review per hour`. */
export function budgetName(key: string): string {
  const [kind = '', ...rest] = decodeOr<readonly (string | null)[]>(key, isKey, []);
  const per = rest.pop() ?? '';
  const [profile = null, name = null] = kind === 'job' ? [null, ...rest] : rest;
  const of = kind === 'agent' ? (name ?? 'default') : (name ?? '');
  const where = profile === null || profile === 'default' ? '' : ` (profile ${profile})`;
  return `${kind}${of === '' ? '' : ` ${of}`}${where} per ${per}`;
}

/** Limits, or what was spent: `20 runs, cost 1.5`. */
export function budgetAmounts({ runs, tokens, cost }: Pick<BudgetSpan, 'runs' | 'tokens' | 'cost'>): string {
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

/** What runs are counted by, as the keys of rows hold it and as people read it. */
export interface RunKey {
  readonly profile: string;
  /** Null: the key is a session of several routes. */
  readonly route: string | null;
  /** A session or coalesce key, a session id where `route` is null, or where answers go: a target and its address, each. */
  readonly key: string | readonly (readonly string[])[];
}

export const storedRunKey = ({ profile, route, key }: RunKey): string => JSON.stringify([profile, route, key]);

/** Null: the key of a row is damaged. */
export function readRunKey(stored: string): RunKey | null {
  const [profile, route, key] = decodeOr<readonly [string, string | null, RunKey['key']] | readonly []>(
    stored,
    isStored,
    [],
  );
  return profile === undefined || route === undefined || key === undefined ? null : { profile, route, key };
}

/** `octo/shop#7`, or `github_comment octo/shop 7` for where answers go. */
export const runKeyText = ({ key }: RunKey): string =>
  typeof key === 'string' ? key : key.map((place) => place.join(' ')).join(', ');

/** Whose key it is, with it: `route answers (profile team) octo/shop#7`. */
export function runKeyName(of: RunKey): string {
  const { profile, route } = of;
  const where = profile === 'default' ? '' : ` (profile ${profile})`;
  return `${route === null ? 'session' : `route ${route}`}${where} ${runKeyText(of)}`;
}

function isStored(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [profile, route, key] = value as readonly unknown[];
  return isText(profile) && orNull(isText)(route) && (isText(key) || (Array.isArray(key) && key.every(isPlace)));
}

const isPlace = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
