/** Links the deliveries of a route or a job, and renders their addresses. */

import { contentOf } from '../../base/names.ts';
import type {
  ContentField,
  Dispatch,
  DispatchDelivery,
  DispatchOutput,
  OutputPlan,
  RoutePlan,
  RouteTable,
  TargetPlan,
} from '../../schemas/generated/types.ts';
import type { Destination, FindDestination } from './held-place.ts';
import type { Builtins } from './link-template.ts';
import { linkTemplate } from './link-template.ts';
import type { LinkedDelivery, LinkedOutput } from './linked-table.ts';

type DeliveryPlan = RoutePlan['deliver'][number];

export interface DeliveryScope {
  readonly targets: RouteTable['targets'];
  readonly profile: string;
  /** Absent: no delivery needs approval. */
  readonly place?: FindDestination | undefined;
}

export function linkDelivery({ extra, ...delivery }: DeliveryPlan, scope: DeliveryScope): LinkedDelivery {
  const templates = Object.entries(extra).map(([key, template]) => [key, linkTemplate(template)] as const);
  const { profile, place: find } = scope;
  const { target } = delivery;
  const place = (): Destination | null => find?.(profile, target) ?? null;
  return { ...delivery, extra: templates, place };
}

export function linkOutput({ delivery, ...limits }: OutputPlan, scope: DeliveryScope): LinkedOutput {
  const { targets } = scope;
  // The agent does not set fields that the route sets itself.
  const fields = contentOf<ContentField>(targets[delivery.target] ?? {}).filter(
    ({ name }) => !Object.hasOwn(delivery.extra, name),
  );
  return { ...limits, ...messageLimit(targets[delivery.target]), fields, delivery: linkDelivery(delivery, scope) };
}

/** The smallest limit among the target's variants that split a text: the settings decide which one sends. */
function messageLimit(plan: TargetPlan | undefined): Pick<DispatchOutput, 'message'> {
  const limits = (plan?.variants ?? []).flatMap(({ text: { limit, unit, overflow } }) =>
    limit === null || overflow !== 'split' ? [] : [{ limit, unit }],
  );
  const [message] = limits.toSorted((a, b) => a.limit - b.limit);
  return message === undefined ? {} : { message };
}

export const renderOutputs = (
  outputs: readonly LinkedOutput[],
  data: unknown,
  builtins: Builtins,
): Pick<Dispatch, 'outputs'> =>
  outputs.length === 0
    ? {}
    : {
        outputs: outputs.map(({ delivery, ...limits }) => ({
          ...limits,
          delivery: renderDelivery(delivery, data, builtins),
        })),
      };

export const renderDeliveries = (
  deliveries: readonly LinkedDelivery[],
  data: unknown,
  builtins: Builtins,
): DispatchDelivery[] => deliveries.map((delivery) => renderDelivery(delivery, data, builtins));

function renderDelivery(linked: LinkedDelivery, data: unknown, builtins: Builtins): DispatchDelivery {
  const { target, label, approve_ms, place, extra } = linked;
  const delivery: DispatchDelivery = { target, extra: {}, unresolved: [] };
  if (label !== undefined) delivery.label = label;
  if (approve_ms !== undefined) delivery.approve_ms = approve_ms;
  for (const [key, template] of extra) {
    const { text, unresolved } = template(data, builtins);
    delivery.extra[key] = text;
    if (unresolved.length > 0) delivery.unresolved.push(key);
  }
  const held = approve_ms === undefined ? null : place();
  if (held === null) return delivery;
  if (held.place !== null) delivery.place = held.place;
  if (held.home !== null) delivery.extra.chat_id ??= held.home;
  return delivery;
}
