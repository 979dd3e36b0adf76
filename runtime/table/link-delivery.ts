/** Links the deliveries of a route or a job, and renders their addresses. */
import { createHash } from 'node:crypto';
import { labelField } from '../../base/label.ts';
import { contentOf } from '../../base/target-content.ts';
import type {
  ContentField,
  Dispatch,
  DispatchDelivery,
  DispatchOutput,
  OutputPlan,
  RoutePlan,
  RouteTable,
  ShownPlace,
  TargetPlan,
} from '../../schemas/generated/types.ts';
import type { Builtins } from './link-template.ts';
import { linkTemplate } from './link-template.ts';
import type { LinkedDelivery, LinkedOutput } from './linked-table.ts';

type DeliveryPlan = RoutePlan['deliver'][number];

/** Where a target of one's own goes, for the person who approves a message to it; null: its name says it. */
export function shownPlace({ variants: [variant] }: TargetPlan): ShownPlace | null {
  if (variant?.webhook === undefined) return null;
  const segments = [...(variant.base ?? []), ...variant.requests.flatMap(({ path }) => path)];
  const url = segments.map((part) => (part.kind === 'text' ? part.text : `{${part.name || part.of}}`)).join('');
  // A query may hold a key.
  return { url: url.replace(/\?.*/s, ''), digest: createHash('sha256').update(url).digest('hex').slice(0, 16) };
}

export function linkDelivery({ extra, ...delivery }: DeliveryPlan, targets: RouteTable['targets']): LinkedDelivery {
  const templates = Object.entries(extra).map(([key, template]) => [key, linkTemplate(template)] as const);
  const plan = targets[delivery.target];
  const place = plan === undefined || delivery.approve_ms === undefined ? null : shownPlace(plan);
  return { ...delivery, ...labelField(plan), ...(place === null ? {} : { place }), extra: templates };
}

export function linkOutput({ delivery, ...limits }: OutputPlan, targets: RouteTable['targets']): LinkedOutput {
  // What the route says itself, an agent does not fill.
  const fields = contentOf<ContentField>(targets[delivery.target] ?? {}).filter(
    ({ name }) => !Object.hasOwn(delivery.extra, name),
  );
  return { ...limits, ...messageLimit(targets[delivery.target]), fields, delivery: linkDelivery(delivery, targets) };
}

/** The shortest of the target's variants that split a text: which one sends is decided by its settings. */
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
  if (place !== undefined) delivery.place = place;
  for (const [key, template] of extra) {
    const { text, unresolved } = template(data, builtins);
    delivery.extra[key] = text;
    if (unresolved.length > 0) delivery.unresolved.push(key);
  }
  return delivery;
}
