/** A missing part of a delivery's address (§4.4). */

import type { DeliveryConfig } from '../config/deliveries.ts';
import { flowText } from '../text/flow-text.ts';
import { oneOf } from '../text/suggest.ts';
import type { Reported, RouteView } from '../views/views.ts';
import { meantField } from './support/address-names.ts';
import type { Receiver } from './support/receivers.ts';
import { deliveryRule } from './support/receivers.ts';
import { deliveryTargets } from './support/targets.ts';

export const missingDeliverExtra = deliveryRule('missing-deliver-extra', checkKeys);

function checkKeys({ config, scope, route, hasPayload, report }: Receiver): void {
  const written = Object.keys(config.deliver_extra ?? {});
  for (const { name, plan, extra } of deliveryTargets(config, scope.table)) {
    // A placeholder of the URL of `http` is a field of the payload, where there is one.
    const isOwn = plan.variants.some(({ webhook }) => webhook !== undefined) && !hasPayload;
    const missing = plan.address
      .filter((field) => (field.required || isOwn) && !extra.has(field.name))
      .map((field) => field.name);
    const absent = missing.filter((field) => {
      const key = written.find((each) => meantField(each, [field]) !== null);
      if (key === undefined) return true;
      const message = `\`${name}\` needs \`deliver_extra.${field}\`: \`${key}\` is another name for it`;
      report({ path: ['deliver_extra', key], at: 'key', message, fix: { kind: 'rename', text: field } });
      return false;
    });
    if (absent.length > 0) report(withoutKeys(name, absent, config, route));
  }
}

function withoutKeys(
  target: string,
  fields: readonly string[],
  { deliver, deliver_extra }: DeliveryConfig,
  route: RouteView | null,
): Reported {
  const needs = `\`${target}\` needs ${oneOf(
    fields.map((field) => `deliver_extra.${field}`),
    'and',
  )}`;
  const problem = { path: deliver_extra === undefined ? [] : ['deliver_extra'], at: 'key' } as const;
  const usual = usualAddresses(fields, route);
  if (usual === null)
    return { ...problem, message: needs, hint: 'write it as a template over the payload, or as fixed text' };
  const pairs = flowText(usual.values);
  const text = deliver_extra === undefined ? `deliver_extra: ${pairs}` : pairs.slice(2, -2);
  if (!usual.isCertain) return { ...problem, message: needs, hint: `write, for example, \`${text}\`` };
  const message = `${needs}: write \`${text}\``;
  if (deliver_extra !== undefined) return { ...problem, message };
  return { ...problem, message, fix: { kind: 'flow', text: flowText(deliver), andKey: text }, fixAt: ['deliver'] };
}

interface UsualAddress {
  /** Payload paths, best first. */
  readonly paths: readonly string[];
  /** An example for jobs, which have no payload. */
  readonly fixed: string;
}

const USUAL: Readonly<Record<string, UsualAddress>> = {
  repo: { paths: ['repository.full_name', 'project.path_with_namespace'], fixed: 'owner/name' },
  pr_number: { paths: ['number', 'pull_request.number', 'issue.number', 'object_attributes.iid'], fixed: '42' },
};

interface Addresses {
  readonly values: Readonly<Record<string, string>>;
  /** Whether every event has these fields. */
  readonly isCertain: boolean;
}

/** Payload fields that every event of the route has, else examples. Null if there is no usual value for one of the fields. */
function usualAddresses(names: readonly string[], route: RouteView | null): Addresses | null {
  let isCertain = true;
  const values: Record<string, string> = {};
  for (const name of names) {
    const usual = Object.hasOwn(USUAL, name) ? USUAL[name] : undefined;
    if (usual === undefined) return null;
    const path = usual.paths.find((each) => route?.scope.payloads?.isAlwaysSent(route, each.split('.')) === true);
    isCertain &&= path !== undefined;
    values[name] = route === null ? usual.fixed : `{${path ?? usual.paths[0]}}`;
  }
  return { values, isCertain };
}
