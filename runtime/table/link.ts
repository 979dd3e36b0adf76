/**
 * Links the routes of a loaded table and its subscriptions: turns plans into closures and numbers, once for all requests, and
 * reports every reason why one cannot be served.
 */

import { join } from 'node:path';
import type { ProfilePlan, ResponsePlan, RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { ListFile } from './in-file-set.ts';
import type { Authentication } from './link-authentication.ts';
import { linkAuthentication } from './link-authentication.ts';
import type { LinkContext, TableHeadPlan } from './link-context.ts';
import { inBatches, LinkError, routePaths } from './link-context.ts';
import { linkDelivery, linkOutput } from './link-delivery.ts';
import { linkEvents, linkMaxAge } from './link-events.ts';
import { linkFilter } from './link-filter.ts';
import { linkKey } from './link-key.ts';
import { linkLoop } from './link-loop.ts';
import type { Credential } from './link-people.ts';
import { linkBody, linkPrompt, linkTemplate } from './link-template.ts';
import type { LinkedCoalesce, LinkedResponse, LinkedRoute, LinkedScript } from './linked-table.ts';
import { TableError } from './table-source.ts';

/** Maximum number of routes that are listed; the rest are counted. */
const MAX_REASONS = 100;

/** Routes by request path. */
export type RoutePaths = ReadonlyMap<string, RouteSlot>;

/** A table in service. Immutable, except that slots link their routes at the first request. */
export interface LinkedTable {
  readonly plan: RouteTable;
  readonly routes: RoutePaths;
  /** Who may use the console. */
  readonly people: readonly Credential[];
}

/** The routes that can be served, and the reasons for the others. */
export interface LinkedRoutes {
  readonly routes: RoutePaths;
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * @param others further reasons why the table cannot be served
 * @throws TableError that lists these and every route that cannot be served
 */
export async function linkTable(
  table: RouteTable,
  context: LinkContext,
  others: readonly string[] = [],
  people: readonly Credential[] = [],
): Promise<LinkedTable> {
  const plans = [...Object.values(table.routes), ...Object.values(table.callbacks ?? {})];
  const { routes, rejected } = await linkRoutes(plans, table, context);
  if (rejected.length + others.length > 0) {
    throw new TableError([...listReasons(rejected.map(({ reason }) => reason)), ...others].join('\n'));
  }
  return { plan: table, routes, people };
}

/** Links routes over a table. A route that cannot be served does not affect the others. */
export async function linkRoutes(
  plans: readonly RoutePlan[],
  table: RouteTable,
  context: LinkContext,
): Promise<LinkedRoutes> {
  const routes = new Map<string, RouteSlot>();
  const rejected: { name: string; reason: string }[] = [];
  const link = (plan: RoutePlan): void => {
    try {
      const route = new RouteSlot(plan, table, context);
      for (const path of routePaths(plan, table.gateway.multiplex_profiles)) routes.set(path, route);
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      rejected.push({ name: plan.name, reason: error.message });
    }
  };
  await inBatches(plans, (batch) => batch.forEach(link));
  return { routes, rejected };
}

function listReasons(reasons: readonly string[]): readonly string[] {
  const more = reasons.length - MAX_REASONS;
  return [...reasons.slice(0, MAX_REASONS), ...(more > 0 ? [`and ${more} more`] : [])];
}

/**
 * A route of a table in service. The constructor checks that it can be served. The rest is linked at its first request, because
 * most routes of a large table receive none before the next table.
 */
export class RouteSlot {
  readonly plan: RoutePlan;
  private readonly authentication: Authentication;
  private readonly table: TableHeadPlan;
  private readonly context: LinkContext;
  private whole: LinkedRoute | null = null;

  /** @throws LinkError if the route must not or cannot be served. */
  constructor(plan: RoutePlan, table: TableHeadPlan, context: LinkContext) {
    this.plan = plan;
    this.table = table;
    this.context = context;
    this.authentication = linkAuthentication(plan, table, context);
    if (plan.script !== null) profileOf(plan, table);
  }

  get linked(): LinkedRoute {
    this.whole ??= linkRoute(this.plan, this.authentication, this.table, this.context);
    return this.whole;
  }

  get isLinked(): boolean {
    return this.whole !== null;
  }
}

const NO_LISTS: readonly ListFile[] = [];

/** Links the rest of a route whose authentication is linked. */
export function linkRoute(
  plan: RoutePlan,
  authentication: Authentication,
  table: TableHeadPlan,
  context: LinkContext,
): LinkedRoute {
  const lists = new Set<ListFile>();
  const openList = (path: string): ListFile => {
    const list = context.openList(path);
    lists.add(list);
    return list;
  };
  const scope = { targets: table.targets, profile: plan.profile, place: context.place };
  return {
    plan,
    ...authentication,
    window: context.windows.of(plan.profile, plan.name),
    refusals: context.windows.refusalsOf(plan.profile, plan.name),
    limits: {
      maxBodyBytes: table.server.max_body_bytes,
      directTimeoutMs: table.server.direct_timeout_seconds * 1000,
      idempotencyTtlMs: plan.idempotency_ttl_seconds * 1000,
      acceptTimeoutMs: plan.accept_timeout_seconds * 1000,
    },
    body: bodyOf(plan, table),
    allowsEmpty:
      sendersOf(plan).length > 0 && sendersOf(plan).every((name) => table.schemes[name]?.allow_empty === true),
    ...responsesOf(plan, table),
    identityOf: context.linkIdentity(plan.source, authentication.insecure),
    events: linkEvents(plan.events),
    filter: plan.filters === null ? null : linkFilter(plan.filters, openList),
    maxAge: plan.max_age === null ? null : linkMaxAge(plan.max_age),
    lists: lists.size === 0 ? NO_LISTS : [...lists],
    script: scriptOf(plan, table, context),
    prompt: linkPrompt(plan.prompt, context.marks),
    isMarked: plan.prompt.some(({ kind }) => kind === 'notice'),
    deliveries: plan.deliver.map((delivery) => linkDelivery(delivery, scope)),
    outputs: (plan.outputs ?? []).map((output) => linkOutput(output, scope)),
    coalesce: coalesceOf(plan, context),
    onFailure: (plan.on_failure ?? []).map((delivery) => linkDelivery(delivery, scope)),
    loop: linkLoop(plan, table),
    pins: Object.entries(plan.pins ?? {}).map(([name, template]) => [name, linkTemplate(template)] as const),
    progress: (plan.progress ?? []).map((place) => linkDelivery(place, scope)),
    sessionKey: plan.session === null ? null : linkKey(plan.session.key),
  };
}

const sendersOf = ({ source, schemes }: RoutePlan): readonly string[] => (source === null ? schemes : [source]);

/** The body format that all senders of the route use, else null. The content type is not signed, so it decides only then. */
function bodyOf(plan: RoutePlan, table: TableHeadPlan): LinkedRoute['body'] {
  const [format = null, ...others] = new Set(sendersOf(plan).map((name) => table.schemes[name]?.body ?? null));
  return others.length === 0 ? format : null;
}

const MOST_ITEMS = 1000;

/** What the route, its source and the server say about batches and responses. */
function responsesOf(plan: RoutePlan, { schemes, server }: TableHeadPlan): Pick<LinkedRoute, 'batch' | 'respond'> {
  if (plan.callback !== undefined) return { batch: null, respond: null };
  const [name = '', ...others] = plan.source === null ? plan.schemes : [plan.source];
  const scheme = others.length === 0 && Object.hasOwn(schemes, name) ? schemes[name] : undefined;
  const most = scheme?.max_batch ?? server.max_batch ?? MOST_ITEMS;
  const plans = Object.entries({ ...scheme?.respond, ...plan.respond });
  return {
    batch: scheme?.each === undefined ? null : { lists: scheme.each, most },
    respond:
      plans.length === 0 ? null : Object.fromEntries(plans.map(([outcome, one]) => [outcome, linkResponse(one)])),
  };
}

const linkResponse = (plan: ResponsePlan): LinkedResponse => ({
  ...plan,
  body: plan.body === null ? null : linkBody(plan.body, plan.content_type),
});

function scriptOf(plan: RoutePlan, table: TableHeadPlan, { home }: LinkContext): LinkedScript | null {
  if (plan.script === null) return null;
  const folder = join(home, profileOf(plan, table).home, 'scripts');
  const { path, interpreter, timeout_seconds } = plan.script;
  return {
    interpreter: interpreter === 'bash' ? 'bash' : table.gateway.python,
    path: join(folder, path),
    folder,
    timeoutMs: timeout_seconds * 1000,
  };
}

function profileOf(plan: RoutePlan, { profiles }: TableHeadPlan): ProfilePlan {
  const profile = Object.hasOwn(profiles, plan.profile) ? profiles[plan.profile] : undefined;
  if (profile === undefined) throw new LinkError(`route "${plan.name}": the table has no profile "${plan.profile}"`);
  return profile;
}

function coalesceOf({ coalesce }: RoutePlan, { marks }: LinkContext): LinkedCoalesce | null {
  if (coalesce === null) return null;
  const { key, window_seconds, max_wait_seconds, all } = coalesce;
  return {
    key: linkKey(key),
    windowMs: window_seconds * 1000,
    maxWaitMs: max_wait_seconds * 1000,
    all: all === undefined ? null : { each: linkPrompt(all.each, marks), maxEvents: all.max_events },
  };
}
