/** Links the deliveries of a route or a job, and renders their addresses. */
import { labelField } from '../../base/label.ts';
import type { DispatchDelivery, RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { Builtins } from './link-template.ts';
import { linkTemplate } from './link-template.ts';
import type { LinkedDelivery } from './linked-table.ts';

type DeliveryPlan = RoutePlan['deliver'][number];

export function linkDelivery({ target, extra }: DeliveryPlan, targets: RouteTable['targets']): LinkedDelivery {
  const templates = Object.entries(extra).map(([key, template]) => [key, linkTemplate(template)] as const);
  return { target, ...labelField(targets[target]), extra: templates };
}

export function renderDeliveries(
  deliveries: readonly LinkedDelivery[],
  data: unknown,
  builtins: Builtins,
): DispatchDelivery[] {
  const rendered: DispatchDelivery[] = [];
  for (const { target, label, extra } of deliveries) {
    const delivery: DispatchDelivery = { target, extra: {}, unresolved: [] };
    if (label !== undefined) delivery.label = label;
    for (const [key, template] of extra) {
      const { text, unresolved } = template(data, builtins);
      delivery.extra[key] = text;
      if (unresolved.length > 0) delivery.unresolved.push(key);
    }
    rendered.push(delivery);
  }
  return rendered;
}
