/** Finds the limits of a run, and checks them in the store change that accepts, begins or ends it. */
import type { RunLimits } from '../../../runtime/module.ts';
import type { JobRecord } from '../../../runtime/store/records.ts';
import type { RunCounter, RunLimit } from '../../../runtime/store/run-limits.ts';
import type { StorePart } from '../../../runtime/store/store-part.ts';
import { isMessage } from '../../../runtime/store/timeline.ts';
import type { BudgetSpan, LoopLimit } from '../../../schemas/built/operations/types.ts';
import type { RoutePlan, RouteTable } from '../../../schemas/generated/types.ts';
import type { FindBudgets } from './budgets.ts';
import { createFindBudgets, explainBudget, isMetered, refuseIn, reserveRun, spendIn } from './budgets.ts';
import { countInLoops, holdRun, loopLimits } from './loops.ts';

const isBudget = (limit: RunLimit): limit is BudgetSpan => limit.kind === 'budget';
const isLoop = (limit: RunLimit): limit is LoopLimit => limit.kind !== 'budget';

export const runCounter: RunCounter = {
  count(rows, limits, now) {
    const budgets = limits.filter(isBudget);
    const over = refuseIn(rows, budgets, now, true) ?? countInLoops(rows, limits.filter(isLoop), now);
    if (over === null || over.holds === true) reserveRun(rows, budgets, now);
    return over;
  },
  hold: holdRun,
  begin: (rows, limits, now) => refuseIn(rows, limits.filter(isBudget), now, false),
  spend: (rows, limits, usage, at) => spendIn(rows, limits.filter(isBudget), usage, at),
};

export const limitsPart: StorePart = {
  // A getter, because the playground page has no URL to resolve a file against.
  get url() {
    return new URL('./run-limits.js', import.meta.url).href;
  },
  counter: runCounter,
};

export const runLimits: RunLimits = {
  counter: runCounter,
  open({ table, timezone }) {
    let plans: readonly RoutePlan[] = [];
    let records: readonly JobRecord[] = [];
    let linked: { readonly to: RouteTable; readonly find: FindBudgets } | null = null;
    const budgetsOf: FindBudgets = (dispatch, now, author) => {
      const to = table();
      if (linked?.to !== to) linked = { to, find: createFindBudgets(to, timezone, plans, records) };
      return linked.find(dispatch, now, author);
    };
    return {
      counted: (dispatch, now, event = null) => [
        ...(isMessage(dispatch) ? [] : budgetsOf(dispatch, now, event?.author.name)),
        ...(event === null ? [] : loopLimits(table(), dispatch, event)),
      ],
      metered: (dispatch, now) => budgetsOf(dispatch, now).filter(isMetered),
      prepare: () => {},
      subscribed(next) {
        [plans, linked] = [next, null];
      },
      stored(next) {
        [records, linked] = [next, null];
      },
    };
  },
  explain: (rows, limits, now) => limits.filter(isBudget).map((budget) => explainBudget(rows, budget, now)),
};
