/** A missing part of a delivery's address (§4.4). */

import type { DeliveryConfig } from '../config/deliveries.ts';
import type { TableContent } from '../config/table-content.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { flowText } from '../text/flow-text.ts';
import { oneOf } from '../text/suggest.ts';
import type { RouteView } from '../views/route-scope.ts';
import { meantField } from './support/address-names.ts';
import { deliveryTargets } from './support/targets.ts';
import { usualAddresses } from './support/usual-address.ts';
import type { ViewRule } from './support/view-rule.ts';

export const missingDeliverExtra = {
  id: 'missing-deliver-extra',
  checkRoute(route): readonly Problem[] {
    return route.mode === 'cron' ? [] : missingKeys(route.config, route.scope.table, route);
  },
  checkJob(job): readonly Problem[] {
    return missingKeys(job.config, job.scope.table, null);
  },
} as const satisfies ViewRule;

/** @param route null for a job, which has no payload */
function missingKeys(config: DeliveryConfig, table: TableContent, route: RouteView | null): readonly Problem[] {
  const written = Object.keys(config.deliver_extra ?? {});
  return deliveryTargets(config, table).flatMap(({ name, plan, extra }): readonly Problem[] => {
    const missing = plan.address.filter((field) => field.required && !extra.has(field.name)).map((field) => field.name);
    const renamed = missing.flatMap((field) => {
      const key = written.find((each) => meantField(each, [field]) !== null);
      return key === undefined ? [] : [{ field, key }];
    });
    const absent = missing.filter((field) => !renamed.some((each) => each.field === field));
    return [
      ...renamed.map(({ field, key }) => otherName(name, field, key)),
      ...(absent.length === 0 ? [] : [withoutKeys(name, absent, config, route)]),
    ];
  });
}

function otherName(target: string, field: string, key: string): Problem {
  const message = `\`${target}\` needs \`deliver_extra.${field}\`: \`${key}\` is another name for it`;
  const fix = { kind: 'rename', text: field } as const;
  return { rule: 'missing-deliver-extra', path: ['deliver_extra', key], at: 'key', message, fix };
}

function withoutKeys(
  target: string,
  fields: readonly string[],
  { deliver, deliver_extra }: DeliveryConfig,
  route: RouteView | null,
): Problem {
  const needs = `\`${target}\` needs ${oneOf(
    fields.map((field) => `deliver_extra.${field}`),
    'and',
  )}`;
  const path = deliver_extra === undefined ? [] : ['deliver_extra'];
  const problem = { rule: 'missing-deliver-extra', path, at: 'key' } as const;
  const usual = usualAddresses(
    fields,
    route === null ? null : (route.scope.payloads?.seenBy(route) ?? null),
    route === null,
  );
  if (usual === null)
    return { ...problem, message: needs, hint: 'write it as a template over the payload, or as fixed text' };
  const pairs = flowText(usual.values);
  const text = deliver_extra === undefined ? `deliver_extra: ${pairs}` : pairs.slice(2, -2);
  if (!usual.isCertain) return { ...problem, message: needs, hint: `write, for example, \`${text}\`` };
  return {
    ...problem,
    message: `${needs}: write \`${text}\``,
    ...(deliver_extra === undefined
      ? { fix: { kind: 'flow', text: flowText(deliver), andKey: text }, fixAt: ['deliver'] }
      : {}),
  };
}
