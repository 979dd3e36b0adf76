/** Links one route plan: closures and numbers in place of plans, made once for all its requests. */
import { join } from 'node:path';
import type { RoutePlan } from '../../schemas/generated/types.ts';
import { linkAuthentication } from './link-authentication.ts';
import type { LinkContext, TableHeadPlan } from './link-context.ts';
import { LinkError, schemeOf } from './link-context.ts';
import { linkEvents } from './link-events.ts';
import { linkFilter } from './link-filter.ts';
import { linkKey, linkTemplate } from './link-template.ts';
import type { Identity, LinkedCoalesce, LinkedDelivery, LinkedRoute, LinkedScript } from './linked-table.ts';

/** @throws LinkError when the route must not or cannot be served. */
export function linkRoute(plan: RoutePlan, table: TableHeadPlan, context: LinkContext): LinkedRoute {
  const schemes = plan.schemes.map((name) => schemeOf(name, plan, table));
  return {
    plan,
    window: context.windows.of(plan.profile, plan.name),
    limits: {
      maxBodyBytes: table.server.max_body_bytes,
      directTimeoutMs: table.server.direct_timeout_seconds * 1000,
      idempotencyTtlMs: plan.idempotency_ttl_seconds * 1000,
    },
    ...linkAuthentication(plan, schemes, table, context),
    deprecated: new Map(schemes.flatMap(({ name, deprecated }) => (deprecated === null ? [] : [[name, deprecated]]))),
    identity: identityOf(plan, table),
    acceptsEvent: linkEvents(plan.events),
    matches: plan.filters === null ? null : linkFilter(plan.filters, context.openList),
    script: scriptOf(plan, table, context),
    prompt: linkTemplate(plan.prompt),
    deliveries: plan.deliver.map(deliveryOf),
    coalesce: coalesceOf(plan),
  };
}

/** A source says where its event type and id are; without one, the places of all known senders are searched. */
function identityOf(plan: RoutePlan, { default_event, default_delivery, ...table }: TableHeadPlan): Identity {
  if (plan.source === null) {
    return { event: default_event, eventFallback: [], delivery: default_delivery, pinned: false, digest: false };
  }
  const { event, delivery, delivery_digest } = schemeOf(plan.source, plan, table);
  const eventFallback = default_event.filter((place) => place.in === 'json');
  return { event, eventFallback, delivery, pinned: true, digest: delivery_digest };
}

function scriptOf(plan: RoutePlan, table: TableHeadPlan, { home }: LinkContext): LinkedScript | null {
  if (plan.script === null) return null;
  const profile = Object.hasOwn(table.profiles, plan.profile) ? table.profiles[plan.profile] : undefined;
  if (profile === undefined) throw new LinkError(`route "${plan.name}": the table has no profile "${plan.profile}"`);
  const folder = join(home, profile.home, 'scripts');
  const { path, interpreter, timeout_seconds } = plan.script;
  return {
    interpreter: interpreter === 'bash' ? 'bash' : table.gateway.python,
    path: join(folder, path),
    folder,
    timeoutMs: timeout_seconds * 1000,
  };
}

function deliveryOf({ target, extra }: RoutePlan['deliver'][number]): LinkedDelivery {
  return { target, extra: Object.entries(extra).map(([key, template]) => [key, linkTemplate(template)]) };
}

function coalesceOf({ coalesce }: RoutePlan): LinkedCoalesce | null {
  if (coalesce === null) return null;
  const { key, window_seconds, max_wait_seconds } = coalesce;
  return { key: linkKey(key), windowMs: window_seconds * 1000, maxWaitMs: max_wait_seconds * 1000 };
}
