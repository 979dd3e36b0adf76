/**
 * Budgets: limits of runs, tokens and cost in a window of time. A budget is one row of the guard. The usage of a run counts when it
 * ends, so running agents can exceed a budget.
 *
 *   accept ──> full: rejected           begin ──> full: the dispatch is skipped         end ──> its usage is added
 *      └──> reserves one run
 */
import { agentPlan } from '../../../base/names.ts';
import { utcTime } from '../../../base/text.ts';
import type { AlertCondition } from '../../../runtime/dispatch/context.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { decodeOr, isCount, isInstant, isText, orNull } from '../../../runtime/store/decode.ts';
import type { JobRecord } from '../../../runtime/store/records.ts';
import type { GuardRows, OverLimit } from '../../../runtime/store/run-limits.ts';
import type { Usage } from '../../../runtime/store/usage.ts';
import { amountsText, isAmount, tokensOf } from '../../../runtime/store/usage.ts';
import type { BudgetSpan } from '../../../schemas/built/operations/types.ts';
import type { BudgetPlan, Dispatch, ExplainedBudget, RoutePlan, RouteTable } from '../../../schemas/generated/types.ts';

export type FindBudgets = (
  of: Pick<Dispatch, 'profile' | 'route' | 'job' | 'agent'>,
  now: number,
  author?: string | null,
) => readonly BudgetSpan[];

/**
 * Returns a function that finds the budgets of a run: those of its route, its agent, its job and the gateway.
 * @param timezone of the machine, used where the gateway names none
 */
export function createFindBudgets(
  { profiles, routes, jobs, gateway }: RouteTable,
  timezone: string,
  subscribed: readonly RoutePlan[],
  stored: readonly JobRecord[],
): FindBudgets {
  const windowAt = createWindows(gateway.timezone ?? timezone);
  const nameOf = (profile: string, route: string | null): string => JSON.stringify([profile, route]);
  const ofRoutes = budgetsBy([...subscribed, ...Object.values(routes)], ({ profile, name }) => nameOf(profile, name));
  const ofStored = budgetsBy(stored, ({ id }) => id);
  const ofJob = (id: string): BudgetPlan | undefined => (Object.hasOwn(jobs, id) ? jobs[id]?.budget : ofStored.get(id));
  const ofAgent = (profile: string, name: string | null): BudgetPlan | undefined => {
    const plan = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
    return plan === undefined ? undefined : agentPlan(plan, name)?.budget;
  };
  return ({ profile, route, job, agent = null }, now, author = null) => {
    const plans: readonly (readonly [BudgetPlan | undefined, readonly (string | null)[]])[] = [
      [route === null ? undefined : ofRoutes.get(nameOf(profile, route)), ['route', profile, route]],
      [ofAgent(profile, agent), ['agent', profile, agent]],
      [job === null ? undefined : ofJob(job), ['job', job]],
      [gateway.budget, ['gateway']],
    ];
    return plans.flatMap(([plan, owner]) => {
      if (plan === undefined) return [];
      const { per, per_author = null, ...limits } = plan;
      const span = (key: typeof owner, most: typeof limits): BudgetSpan => ({
        kind: 'budget',
        key: JSON.stringify([...key, per]),
        ...most,
        ...windowAt(per, now),
      });
      const ofAuthor = { runs: per_author, tokens: null, cost: null };
      const isLimited = author !== null && per_author !== null;
      return [span(owner, limits), ...(isLimited ? [span(['author', author, ...owner], ofAuthor)] : [])];
    });
  };
}

const budgetsBy = <Of extends { readonly budget?: BudgetPlan }>(
  owners: readonly Of[],
  keyOf: (of: Of) => string,
): ReadonlyMap<string, BudgetPlan> =>
  new Map(owners.flatMap((of) => (of.budget === undefined ? [] : [[keyOf(of), of.budget] as const])));

/** True if the budget limits tokens or cost, which are known only when a run has ended. */
export const isMetered = ({ tokens, cost }: BudgetSpan): boolean => tokens !== null || cost !== null;

/** The stored body of a row: the usage in a window. */
interface Spent {
  /** The window that the counts belong to. */
  readonly since: number;
  readonly until: number;
  readonly runs: number;
  readonly tokens: number;
  readonly cost: number;
  /** The budget has rejected a run in this window. */
  readonly refused: boolean;
}

/** Fields that gateways of the previous version need while they share a store with this one. Remove in the next version. */
const OF_PREVIOUS = { largest_tokens: null, largest_cost: null, under_way: [] };
/** How long a row is stored after its window, in ms, in case the clock is set back. */
const KEEP_MS = 86_400_000;

/** Reserves a run in each of the budgets. */
export function reserveRun(rows: GuardRows, budgets: readonly BudgetSpan[], now: number): void {
  for (const budget of budgets) {
    if (budget.runs === null) continue;
    const spent = spentOf(rows, budget, now);
    put(rows, budget, { ...spent, runs: spent.runs + 1 });
  }
}

/** Checks the budgets and returns the first full one, or null. @param accepting false: an accepted run begins; it is already reserved */
export function refuseIn(
  rows: GuardRows,
  budgets: readonly BudgetSpan[],
  now: number,
  accepting: boolean,
): OverLimit | null {
  const limit = budgets.find((one) => isFull(spentOf(rows, one, now), one, accepting));
  if (limit === undefined) return null;
  const spent = spentOf(rows, limit, now);
  if (!spent.refused) put(rows, limit, { ...spent, refused: true });
  const { until } = limit;
  const detail = `${budgetName(limit.key)}: used up until ${utcTime(until)}`;
  return { kind: 'over_limit', limit, reason: 'budget', until, first: !spent.refused, detail };
}

const isFull = ({ runs, tokens, cost }: Spent, budget: Omit<BudgetPlan, 'per'>, accepting: boolean): boolean =>
  (accepting && budget.runs !== null && runs >= budget.runs) ||
  (budget.tokens !== null && tokens >= budget.tokens) ||
  (budget.cost !== null && cost >= budget.cost);

/** Adds the usage of a run. */
export function spendIn(rows: GuardRows, budgets: readonly BudgetSpan[], usage: Usage, at: number): void {
  for (const budget of budgets) {
    const spent = spentOf(rows, budget, at);
    const { tokens, cost } = spent;
    put(rows, budget, { ...spent, tokens: tokens + tokensOf(usage), cost: cost + (usage.cost ?? 0) });
  }
}

/**
 * The usage in the window of `now`. A stored window is used until its end has passed, so that gateways in other time zones do not
 * reset it. If the clock was set back, its usage counts in the earlier window.
 */
function spentOf(rows: GuardRows, budget: BudgetSpan, now: number): Spent {
  const stored = readSpent(rows.guardRow(budget));
  const { since, until } = budget;
  if (stored === null || now >= stored.until) return { since, until, runs: 0, tokens: 0, cost: 0, refused: false };
  return now < stored.since ? { ...stored, since, until } : stored;
}

const put = (rows: GuardRows, { kind, key }: BudgetSpan, spent: Spent): void =>
  rows.putGuardRow({ kind, key, body: JSON.stringify({ ...spent, ...OF_PREVIOUS }) }, spent.until + KEEP_MS);

/** The decoded body; null if missing or damaged. */
const readSpent = (body: string | undefined): Spent | null => decodeOr<Spent | null>(body, isSpent, null);

function isSpent(value: unknown): boolean {
  const body = (value ?? {}) as Partial<Spent>;
  return (
    [body.since, body.until].every(isInstant) &&
    isCount(body.runs) &&
    [body.tokens, body.cost].every(isAmount) &&
    typeof body.refused === 'boolean'
  );
}

/** Describes a budget with its limits and usage. */
export function explainBudget(rows: GuardRows, budget: BudgetSpan, now: number): ExplainedBudget {
  const amounts = ({ runs, tokens, cost }: Pick<BudgetSpan, 'runs' | 'tokens' | 'cost'>) => ({ runs, tokens, cost });
  const [limits, spent] = [amounts(budget), amounts(spentOf(rows, budget, now))];
  return { budget: budgetName(budget.key), limits, spent, until: new Date(budget.until).toISOString() };
}

/** The display name of a budget key: `route review per hour`. */
function budgetName(key: string): string {
  const parts = decodeOr<readonly (string | null)[]>(key, isKey, []);
  if (parts[0] === 'author')
    return `author ${printableStart(parts[1] ?? '', 80)}, ${budgetName(JSON.stringify(parts.slice(2)))}`;
  const [kind = '', ...rest] = parts;
  const per = rest.pop() ?? '';
  const [profile = null, name = null] = kind === 'job' ? [null, ...rest] : rest;
  const of = kind === 'agent' ? (name ?? 'default') : (name ?? '');
  const where = profile === null || profile === 'default' ? '' : ` (profile ${profile})`;
  return `${kind}${of === '' ? '' : ` ${of}`}${where} per ${per}`;
}

const isKey = (value: unknown): boolean => Array.isArray(value) && value.every(orNull(isText));

/** An hour or day in a time zone. */
export interface Window {
  /** Start and exclusive end, in Unix ms. */
  readonly since: number;
  readonly until: number;
}

const HOUR = 3_600_000;
/** Longer than any day. */
const DAY_AT_MOST = 27 * HOUR;

/** Returns a function that computes the window of an instant. It caches the last window of each kind. */
export function createWindows(timeZone: string): (per: BudgetPlan['per'], now: number) => Window {
  const cache = new Map<BudgetPlan['per'], Window>();
  const local = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const partsOf = (at: number): Readonly<Record<string, number>> =>
    Object.fromEntries(local.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const dayOf = (at: number): string => {
    const { year, month, day } = partsOf(at);
    return `${year}-${month}-${day}`;
  };
  const hour = (now: number): Window => {
    const { minute = 0, second = 0 } = partsOf(now);
    const since = Math.floor(now / 1000) * 1000 - minute * 60_000 - second * 1000;
    return { since, until: since + HOUR };
  };
  // A day has more or fewer than 24 hours when daylight saving time changes.
  const day = (now: number): Window => {
    const today = dayOf(now);
    const isToday = (at: number): boolean => dayOf(at) === today;
    return {
      since: boundary(now - DAY_AT_MOST, now, isToday),
      until: boundary(now, now + DAY_AT_MOST, (at) => !isToday(at)),
    };
  };
  const compute = { hour, day };
  return (per, now) => {
    const last = cache.get(per);
    if (last !== undefined && now >= last.since && now < last.until) return last;
    const window = compute[per](now);
    cache.set(per, window);
    return window;
  };
}

/** The first ms at which `holds` is true; it must be false at `from` and true at `to`. */
function boundary(from: number, to: number, holds: (at: number) => boolean): number {
  let [before, after] = [Math.floor(from), Math.floor(to)];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (holds(middle)) after = middle;
    else before = middle;
  }
  return after;
}

/** An alert for a budget that is used up: one per window, resolved when the window ends. */
export interface FullBudget {
  readonly of: AlertCondition;
  readonly reason: string;
}

const UNTIL_THEN = 'new events are ignored until then and can be replayed';

const conditionOf = (key: string, until: number): AlertCondition => {
  const subject = `${budgetName(key)}, until ${utcTime(until)}`;
  return { kind: 'budget', subject, until };
};

/** The alert for a rejected run. */
export const refusedBy = (budget: BudgetSpan): FullBudget => ({
  of: conditionOf(budget.key, budget.until),
  reason: `limit of ${amountsText(budget)} reached; ${UNTIL_THEN}`,
});

/** The budgets that have rejected a run in the current window, even if that gateway was killed, and were not raised since. */
export async function fullBudgets(
  store: Pick<Store, 'read'>,
  table: RouteTable,
  now: number,
): Promise<readonly FullBudget[]> {
  const rows = await store.read({ kind: 'guard_rows', of: 'budget' });
  return rows.flatMap(({ key, body }) => {
    const spent = readSpent(body);
    if (spent === null || !spent.refused || spent.until <= now) return [];
    const plan = planOf(key, table);
    if (plan !== undefined && !isFull(spent, plan, true)) return [];
    const reason = `used: ${amountsText(spent)}; ${UNTIL_THEN}`;
    return [{ of: conditionOf(key, spent.until), reason }];
  });
}

/** The budget of this key in the table; undefined: it is an author's, or a subscription or a stored job may have it. */
function planOf(key: string, { routes, jobs, profiles, gateway }: RouteTable): BudgetPlan | undefined {
  const [kind, profile, name = null] = decodeOr<readonly (string | null)[]>(key, isKey, []);
  if (kind === 'gateway') return gateway.budget;
  if (kind === 'job') return jobs[profile ?? '']?.budget;
  if (kind === 'route') return Object.values(routes).find((of) => of.profile === profile && of.name === name)?.budget;
  // Only an author's key has a name that a stranger chooses.
  const plan = kind === 'agent' ? profiles[profile ?? ''] : undefined;
  return plan === undefined ? undefined : agentPlan(plan, name)?.budget;
}
