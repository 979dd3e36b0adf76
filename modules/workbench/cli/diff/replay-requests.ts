/** Evaluates captured requests under two tables with the intake stages, for `diff --requests` and before a swap. */

import { isDeepStrictEqual } from 'node:util';
import { targetLabel } from '../../../../base/text.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { createProgress } from '../../../../cli/output/prompter.ts';
import { readStoredJobs } from '../../../../cli/store/use-store.ts';
import type { CapturedRequests } from '../../../../runtime/intake/keeper.ts';
import { LinkError } from '../../../../runtime/table/link-context.ts';
import type { FailOn, KeptFilter, KeptRequest, RefusedSwap } from '../../../../schemas/built/operations/types.ts';
import type { Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { NO_SCHEME, verifiedParts } from '../../runtime/capture/requests.ts';
import type { Explainer } from '../../runtime/explain/create-explainer.ts';
import { fixedWorld } from '../../runtime/explain/create-explainer.ts';
import { createMachineExplainer } from '../explain/machine-services.ts';
import { useRequests } from '../use-requests.ts';

export interface Replayed extends Pick<Explanation, 'taken' | 'status' | 'outcome' | 'reason' | 'prompt'> {
  readonly deliveries: readonly Pick<Explanation['deliveries'][number], 'target' | 'address'>[];
  /** The events of a batch; absent: it is one event. */
  readonly events?: readonly Replayed[];
}

export interface RequestChange extends Pick<KeptRequest, 'id' | 'at' | 'route' | 'event'> {
  /** `lost`: no longer accepted; `gained`: newly accepted; `changed`: another outcome, prompt or address. */
  readonly kind: 'lost' | 'gained' | 'changed';
  readonly old: Replayed;
  readonly new: Replayed;
}

/**
 * Why a captured request is not evaluated: its body is missing, the new table requires a signature, no table has its route, or
 * it repeats an event. The first request of an event is evaluated.
 */
export type Unjudged = 'no_body' | 'unsigned' | 'unknown_route' | 'duplicate';

export interface RequestsReport extends Omit<RefusedSwap, 'requests'> {
  readonly same: number;
  /** Number of requests evaluated without the script of their route, which may decide differently. */
  readonly scripts: number;
  readonly unjudged: Readonly<Record<Unjudged, number>>;
  /** Newest first. */
  readonly changes: readonly RequestChange[];
}

/** Whether the report contains any of the named differences. */
export function hasNamedChange({ lost, gained, changed }: RequestsReport, named: readonly FailOn[]): boolean {
  return named.some((each) => (each === 'lost' ? lost : lost + gained + changed) > 0);
}

interface ReplayOptions extends Sides<RouteTable> {
  /** Number of requests; the newest are used. */
  readonly count: number;
}

/** @throws CliError when the requests cannot be read, or a route cannot be linked */
export async function replayCaptured(
  context: CliContext,
  { old, new: now, count }: ReplayOptions,
): Promise<RequestsReport> {
  const jobs = await readStoredJobs(context);
  const sides = createSides(context, jobs, { old, new: now });
  const progress = createProgress(context, count, 'captured requests');
  try {
    return await useRequests(context, (requests) => replayRequests(requests, count, sides, progress.update));
  } catch (error) {
    if (error instanceof LinkError) throw new CliError(error.message);
    throw error;
  } finally {
    progress.end();
  }
}

type Sides<Side> = Readonly<Record<'old' | 'new', Side>>;

/** @param jobs jobs created at run time */
export function createSides(
  context: Parameters<typeof createMachineExplainer>[0],
  jobs: Parameters<typeof fixedWorld>[1],
  tables: Sides<RouteTable>,
): Sides<Explainer> {
  const explainer = (table: RouteTable): Explainer => createMachineExplainer(context, table, fixedWorld(table, jobs));
  return { old: explainer(tables.old), new: explainer(tables.new) };
}

/** Number of requests read at once. Bodies may be large. */
const AT_ONCE = 16;
/** Page size of the list. */
const PAGE = 1000;

/** @param wanted number of the newest requests @param progress called with the number of requests done */
export async function replayRequests(
  requests: CapturedRequests,
  wanted: number,
  sides: Sides<Explainer>,
  progress: (done: number) => void = () => {},
): Promise<RequestsReport> {
  const changes: RequestChange[] = [];
  const counts = { total: 0, same: 0, lost: 0, gained: 0, changed: 0, scripts: 0 };
  const unjudged: Record<Unjudged, number> = { no_body: 0, unsigned: 0, unknown_route: 0, duplicate: 0 };
  for await (const captured of newest(requests, wanted)) {
    const found = await replay(captured, sides);
    counts.total++;
    if (typeof found === 'string') unjudged[found]++;
    else {
      if (found.hasScript) counts.scripts++;
      counts[found.change?.kind ?? 'same']++;
      if (found.change !== null) changes.push(found.change);
    }
    progress(counts.total);
  }
  return { ...counts, unjudged, changes };
}

/** Yields the newest requests, at most `wanted`. */
export async function* newest(
  requests: CapturedRequests,
  wanted: number,
  filter: KeptFilter = {},
): AsyncGenerator<KeptRequest> {
  let left = wanted;
  let before: { readonly before?: string } = {};
  while (left > 0) {
    const page = await requests.list(filter, { limit: Math.min(left, PAGE), ...before });
    const read = (at: number) => Promise.all(page.slice(at, at + AT_ONCE).map(({ id }) => requests.load(id)));
    let next = read(0);
    for (let at = 0; at < page.length; at += AT_ONCE) {
      const found = await next;
      // The next batch is read while this one is evaluated. A failure is thrown when its turn comes.
      next = read(at + AT_ONCE);
      next.catch(() => {});
      // A request that is missing now has expired since the list was read.
      for (const each of found) if (each.kind === 'found') yield each.request;
    }
    const last = page.at(-1);
    if (last === undefined) return;
    left -= page.length;
    before = { before: last.id };
  }
}

interface EvaluatedRequest {
  readonly change: RequestChange | null;
  /** A script of the route would also decide, and is not run. */
  readonly hasScript: boolean;
}

async function replay(captured: KeptRequest, sides: Sides<Explainer>): Promise<EvaluatedRequest | Unjudged> {
  const { profile, route } = captured;
  const plans = { old: sides.old.planOf(profile, route), new: sides.new.planOf(profile, route) };
  // No table contains subscriptions.
  if (plans.old === null) return 'unknown_route';
  if (captured.outcome === 'duplicate') return 'duplicate';
  const found = verifiedParts(captured);
  if (found === null) return 'no_body';
  const { parts, verifiedBy, cameAt } = found;
  const isOpen = verifiedBy === NO_SCHEME;
  if (isOpen && plans.new !== null && !staysOpen(plans.old, plans.new)) return 'unsigned';
  const explain = async (side: Explainer, plan: RoutePlan | null): Promise<Replayed> => {
    if (plan === null) return GONE;
    const explainInput = { request: parts, verifiedBy, cameAt, isOpen, event: null, runScript: null };
    return replayedOf(await side.explain(plan, explainInput), side.table, plans.new);
  };
  const change = compare(captured, await explain(sides.old, plans.old), await explain(sides.new, plans.new));
  return { change, hasScript: plans.old.script !== null || (plans.new?.script ?? null) !== null };
}

/** Whether a route that checked no signature checks none in the new table. References to secrets are not resolved here. */
const staysOpen = (old: RoutePlan, now: RoutePlan): boolean =>
  now.insecure || (!old.insecure && isDeepStrictEqual(now.secrets, old.secrets));

const GONE: Replayed = {
  taken: false,
  status: 404,
  outcome: 'unknown_route',
  reason: null,
  prompt: null,
  deliveries: [],
};

/** Targets get the aliases of the new route, so that a different alias is not a different address. */
function replayedOf(
  { taken, status, outcome, reason, prompt, deliveries, events }: Explanation,
  table: RouteTable,
  route: RoutePlan | null,
): Replayed {
  const { target_names: names } = table;
  const addresses = deliveries.map(({ target, address }) => {
    const known = route?.deliver.find((delivery) => delivery.target === (names[target] ?? target));
    return { target: known === undefined ? target : targetLabel(known), address };
  });
  const batch = events === undefined ? {} : { events: events.map((event) => replayedOf(event, table, route)) };
  return { taken, status, outcome, reason, prompt, deliveries: addresses, ...batch };
}

function compare({ id, at, route, event }: KeptRequest, before: Replayed, now: Replayed): RequestChange | null {
  if (isDeepStrictEqual(before, now)) return null;
  const gains = takenOf(now).filter((taken, at) => taken !== (takenOf(before)[at] ?? before.taken));
  const kind = gains.length === 0 ? 'changed' : gains.includes(false) ? 'lost' : 'gained';
  return { id, at, route, event, kind, old: before, new: now };
}

/** Whether each event is accepted. */
const takenOf = ({ taken, events }: Replayed): readonly boolean[] => events?.map((event) => event.taken) ?? [taken];
