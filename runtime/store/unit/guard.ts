/** Runs counted against their limits and budgets, the room that agents have, and the rows that the guard replaces. */

import type { BudgetBody, BudgetSpan, OverBudget } from '../budget.ts';
import { isFull, readBudget, spend, spentAt } from '../budget.ts';
import type { AgentLimit, OverLimit } from '../contract.ts';
import { decodeOr } from '../decode.ts';
import type { Headed, LargeTexts } from '../group-commit.ts';
import type { GuardRow, PutGuard, RunLimit, RunTimes } from '../records.ts';
import { guardKey, isRunTimes, laneKey, laneParts } from '../records.ts';
import type { Usage } from '../usage.ts';
import type { LaneCount } from '../waits.ts';
import type { WorkUnit } from './unit.ts';

const NO_RUNS: RunTimes = { times: [], until: null };

/** Counts a run, or returns the limit that it is beyond. A clock that was set back never makes a pause longer. */
export function countRun(unit: WorkUnit, limits: readonly RunLimit[] = [], now: number): OverLimit | null {
  const { rows } = unit;
  const counted = limits.map((limit) => countedFor(limit, rows.guard.get(rows.keyOf(guardKey(limit))), now));
  const over = counted.find(isOver);
  if (over === undefined) {
    for (const { limit, times } of counted) put(unit, limit, { times: [...times, now], until: null }, now);
    return null;
  }
  const { limit } = over;
  const until = pausedUntil(over, now);
  if (until !== over.until) put(unit, limit, { times: [], until }, now);
  // Without a pause, what is refused counts too: the exchange goes on.
  if (until === null) put(unit, limit, { times: [...over.times.slice(1), now], until }, now);
  return { kind: 'over_limit', limit, until };
}

/** The limit that a run would be beyond; null: none. @param bodies of the stored rows, by `guardKey` */
export function overLimit(
  limits: readonly RunLimit[],
  bodies: ReadonlyMap<string, string>,
  now: number,
): OverLimit | null {
  const over = limits.map((limit) => countedFor(limit, bodies.get(guardKey(limit)), now)).find(isOver);
  return over === undefined ? null : { kind: 'over_limit', limit: over.limit, until: pausedUntil(over, now) };
}

interface Counted extends RunTimes {
  readonly limit: RunLimit;
}

const isOver = ({ until, times, limit }: Counted): boolean => until !== null || times.length >= limit.most;

const pausedUntil = ({ until, limit: { pause_ms } }: Counted, now: number): number | null =>
  until ?? (pause_ms > 0 ? now + pause_ms : null);

/** @param body of its row; undefined: there is none */
function countedFor(limit: RunLimit, body: string | undefined, now: number): Counted {
  const { within_ms, pause_ms } = limit;
  const { times, until } = decodeOr(body, isRunTimes, NO_RUNS);
  const isPaused = until !== null && until > now && until <= now + pause_ms;
  return {
    limit,
    times: times.filter((at) => at > now - within_ms).map((at) => Math.min(at, now)),
    until: isPaused ? until : null,
  };
}

function put(unit: WorkUnit, { kind, key, within_ms }: RunLimit, times: RunTimes, now: number): void {
  const expires_at = Math.max(now + within_ms, times.until ?? 0);
  putGuardRow(unit, { kind, key, body: JSON.stringify(times) }, expires_at);
}

/** Replaces a row that is still as expected; false if it is not. */
export function putGuard(unit: WorkUnit, m: Headed<PutGuard>, texts: LargeTexts): boolean {
  const { rows } = unit;
  const { row, expect, body, expires_at, dispatch: head, now } = m;
  if ((rows.guard.get(rows.keyOf(guardKey(row))) ?? null) !== expect) return false;
  putGuardRow(unit, { ...row, body }, expires_at);
  if (head !== null) unit.insertMessage(head, texts, now);
  return true;
}

type Change = Omit<GuardRow, 'body'> & { readonly body: string | null };

/** Replaces a row, or removes it. @param expires_at Unix ms from which it may go; null: never */
export function putGuardRow({ rows, changedGuard }: WorkUnit, row: Change, expires_at: number | null): void {
  const key = rows.keyOf(guardKey(row));
  const known = changedGuard.get(key)?.known ?? rows.guard.get(key) !== undefined;
  changedGuard.set(key, { ...row, expires_at, known });
  if (row.body === null) rows.guard.delete(key);
  else rows.guard.set(key, row.body);
}

/** What gateways of the previous version read besides, while they run beside this one. The next version goes without. */
const OF_PREVIOUS = { largest_tokens: null, largest_cost: null, under_way: [] };
/** How long a row is kept after its window, in ms, for a clock that is set back. */
const KEEP_MS = 86_400_000;

/** The first of the budgets that has no run left; null: a run can be reserved in each. */
export const refuseRun = (unit: WorkUnit, budgets: readonly BudgetSpan[] = [], now: number): OverBudget | null =>
  refusal(unit, budgets, now, true);

/** Reserves a run in each of the budgets. */
export function reserveRun(unit: WorkUnit, budgets: readonly BudgetSpan[] = [], now: number): void {
  for (const budget of budgets) {
    if (budget.runs === null) continue;
    const spent = read(unit, budget, now);
    putBudget(unit, budget, { ...spent, runs: spent.runs + 1 });
  }
}

/** The first of the budgets whose tokens or cost are used up; null: a run may begin. */
export const refuseMetered = (unit: WorkUnit, budgets: readonly BudgetSpan[], now: number): OverBudget | null =>
  refusal(unit, budgets, now, false);

/** Adds what a run has used. */
export function spendIn(unit: WorkUnit, budgets: readonly BudgetSpan[], usage: Usage, at: number): void {
  for (const budget of budgets) putBudget(unit, budget, spend(read(unit, budget, at), usage));
}

function refusal(unit: WorkUnit, budgets: readonly BudgetSpan[], now: number, accepting: boolean): OverBudget | null {
  const budget = budgets.find((one) => isFull(read(unit, one, now), one, accepting));
  if (budget === undefined) return null;
  const spent = read(unit, budget, now);
  if (!spent.refused) putBudget(unit, budget, { ...spent, refused: true });
  return { kind: 'over_budget', budget, first: !spent.refused };
}

function read({ rows }: WorkUnit, budget: BudgetSpan, now: number): BudgetBody {
  const body = rows.guard.get(rows.keyOf(guardKey({ kind: 'budget', key: budget.key })));
  return spentAt(readBudget(body), budget, now);
}

const putBudget = (unit: WorkUnit, { key }: BudgetSpan, body: BudgetBody): void =>
  putGuardRow(unit, { kind: 'budget', key, body: JSON.stringify({ ...body, ...OF_PREVIOUS }) }, body.until + KEEP_MS);

/** How many runs of the agents that have a limit may begin, for `take_work`, and for what is said of the others. */
export class AgentRoom {
  private readonly left = new Map<string, number>();

  /** @param running the runs under way of each lane */
  constructor(limits: readonly AgentLimit[], running: readonly LaneCount[]) {
    for (const { profile, agent, max_concurrent } of limits) this.left.set(laneKey(profile, agent), max_concurrent);
    for (const { lane, count } of running) this.use(lane, count);
  }

  /** Infinite for an agent without a limit; 0 or less: none. */
  of(lane: string): number {
    return this.left.get(agentOf(lane)) ?? Number.POSITIVE_INFINITY;
  }

  use(lane: string, count: number): void {
    const agent = agentOf(lane);
    const left = this.left.get(agent);
    if (left !== undefined) this.left.set(agent, left - count);
  }
}

/** The name of a lane's agent, for a profile. */
export function agentOf(lane: string): string {
  const { profile, agent } = laneParts(lane);
  return laneKey(profile, agent);
}
