/**
 * Finds what would stop an explained run or its deliveries: exceeded limits, and drivers that reject a delivery before anything
 * is sent. No service is contacted.
 */

import { NO_AGENT } from '../../../../base/names.ts';
import { createDeliverer } from '../../../../runtime/deliver/create-deliverer.ts';
import type { DeliveryContext } from '../../../../runtime/deliver/deliverer.ts';
import { DeliveryRefusal } from '../../../../runtime/deliver/http/values.ts';
import { linkTargets, loadDrivers } from '../../../../runtime/deliver/link-targets.ts';
import type { LimitedEvent } from '../../../../runtime/dispatch/dispatcher.ts';
import { FIRST_ATTEMPT } from '../../../../runtime/dispatch/own-message.ts';
import { listJobs } from '../../../../runtime/dispatch/scheduler/job.ts';
import type { RuntimePart } from '../../../../runtime/module.ts';
import { findPart } from '../../../../runtime/module.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets.ts';
import type { GuardKind, GuardRow, JobRecord } from '../../../../runtime/store/records.ts';
import { guardKey } from '../../../../runtime/store/records.ts';
import type { OverLimit, RunLimit } from '../../../../runtime/store/run-limits.ts';
import type {
  Dispatch,
  ExplainedBudget,
  Explanation,
  RoutePlan,
  RouteTable,
} from '../../../../schemas/generated/types.ts';
import type { RefusesDelivery } from './explain-services.ts';
import { lenient } from './explain-services.ts';

/** @param secrets missing secrets resolve to their references */
export async function linkRefusal(
  table: RouteTable,
  secrets: SecretResolver,
  context: DeliveryContext,
): Promise<RefusesDelivery> {
  const drivers = await loadDrivers(table, context);
  const { linked, problems } = linkTargets(table, lenient(secrets), context, drivers);
  const deliverer = createDeliverer({ linked, context, mirror: async () => {} });
  return async (profile, asked, text) => {
    // A reference in place of a missing secret may not have the secret's form, so what would be sent is unknown.
    const isUnknown = problems.some((problem) => problem.profile === profile && problem.target === asked.target);
    if (isUnknown || isOpenHome(table, secrets, profile, asked)) return null;
    if (text === null) return deliverer.refusal(profile, asked);
    const message = { ...asked, ...FIRST_ATTEMPT, profile, text, key: 'x', route: 'x', delivery_id: 'x' };
    try {
      await deliverer.show({ ...message, signal: NEVER });
      return null;
    } catch (error) {
      if (error instanceof DeliveryRefusal) return error.message;
      throw error;
    }
  };
}

const NEVER = new AbortController().signal;

/** Whether the chat is a home channel whose reference cannot be resolved here. */
function isOpenHome(
  { profiles }: RouteTable,
  secrets: SecretResolver,
  profile: string,
  { target, extra }: Parameters<RefusesDelivery>[1],
): boolean {
  const ref = profiles[profile]?.targets[target]?.credentials.home_channel;
  if (ref === undefined || Object.hasOwn(extra, 'chat_id')) return false;
  try {
    secrets.resolve(ref, 'home_channel');
    return false;
  } catch {
    return true;
  }
}

/** The run of an explained event. */
export interface LimitedRun {
  readonly table: RouteTable;
  /** The route's plan: of the table, or of a subscription. */
  readonly plan: RoutePlan;
  readonly dispatch: Dispatch;
  /** Null: it fires a job. */
  readonly event: LimitedEvent | null;
}

/** Lookups that are made only when needed; a page has no store. */
export interface LimitWorld {
  readonly parts: readonly RuntimePart[];
  /** The time zone of the machine. */
  readonly timezone: string;
  /** Unix ms. */
  readonly now: number;
  readonly jobs: () => Promise<readonly JobRecord[]>;
  /** Reads the guard's rows of these kinds. */
  readonly rows: (kinds: ReadonlySet<GuardKind>) => Promise<readonly GuardRow[]>;
}

/** The limits of a run. */
export interface FoundLimits {
  /** Null: no limit is exceeded. */
  readonly over: OverLimit | null;
  /** The budgets in which the run would count. */
  readonly budgets: readonly ExplainedBudget[];
}

/** Returns the limits that a run would count in, with their current counts. */
export async function storedLimits(
  { table, plan, dispatch, event }: LimitedRun,
  { parts, timezone, now, ...stored }: LimitWorld,
): Promise<FoundLimits> {
  const part = await findPart(parts, 'limits');
  const records = dispatch.job === null ? [] : await stored.jobs();
  const job = dispatch.job === null ? dispatch : listJobs(table, records, timezone).get(dispatch.job);
  const agent = job?.agent ?? null;
  if (part === null || agent === NO_AGENT) return { over: null, budgets: [] };
  const finder = part.open({ table: () => table, timezone });
  finder.subscribed([plan]);
  finder.stored(records);
  const limits = finder.counted({ ...dispatch, agent }, now, event);
  if (limits.length === 0) return { over: null, budgets: [] };
  const found = await stored.rows(new Set(limits.map(({ kind }) => kind)));
  const bodies = new Map(found.map((row) => [guardKey(row), row.body]));
  const rows = { guardRow: (of: RunLimit) => bodies.get(guardKey(of)), putGuardRow: () => {} };
  return { over: part.counter.count(rows, limits, now), budgets: part.explain(rows, limits, now) };
}

/** Omitted if there is no budget. */
export const reportBudgets = (found: readonly ExplainedBudget[]): Pick<Explanation, 'budgets'> =>
  found.length === 0 ? {} : { budgets: [...found] };
