/** A key of an address that no target uses. */

import type { DeliveryConfig } from '../config/deliveries.ts';
import { addressKeys, targetNamed, writtenTargets } from '../config/deliveries.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { isPlainMap } from '../text/plain-map.ts';
import { didYouMean, oneOf } from '../text/suggest.ts';
import type { RouteScope } from '../views/route-scope.ts';
import { meantField } from './support/address-names.ts';
import { deliveryTargets } from './support/targets.ts';
import type { ViewRule } from './support/view-rule.ts';

export const unknownDeliverExtra = {
  id: 'unknown-deliver-extra',
  checkRoute(route): readonly Problem[] {
    return route.mode === 'cron' ? [] : unknownKeys(route.config, route.scope);
  },
  checkJob(job): readonly Problem[] {
    return unknownKeys(job.config, job.scope);
  },
} as const satisfies ViewRule;

function unknownKeys(config: DeliveryConfig, scope: RouteScope): readonly Problem[] {
  const written = writtenTargets(config.deliver);
  const targets = deliveryTargets(config, scope.table);
  // An unknown target, or a word such as `origin`, may accept any key.
  if (targets.length < written.length || config.deliver_extra === undefined) return [];
  const required = targets.flatMap(({ plan }) => plan.address.filter((field) => field.required));
  const needed = required.map(({ name }) => name).filter((name) => !Object.hasOwn(config.deliver_extra ?? {}, name));
  const all = targets.flatMap(({ plan }) => addressKeys(plan));
  return Object.entries(config.deliver_extra).flatMap(([key, value]): readonly Problem[] => {
    // `missing-deliver-extra` reports a required field under another name.
    if (meantField(key, needed) !== null) return [];
    if (!isPlainMap(value)) return all.includes(key) ? [] : [unknown([key], all, config.deliver_extra)];
    const target = targetNamed(scope.table.target_names, key);
    const own = targets.find(({ plan }) => plan.name === target);
    const groups = written.map(({ name }) => name);
    if (own === undefined) return [unknown([key], groups)];
    const keys = addressKeys(own.plan);
    return Object.keys(value).flatMap((name) => (keys.includes(name) ? [] : [unknown([key, name], keys, value)]));
  });
}

function unknown(
  path: readonly string[],
  known: readonly string[],
  written: Readonly<Record<string, unknown>> = {},
): Problem {
  const key = path.at(-1) ?? '';
  const meant = meantField(key, known);
  if (meant !== null && !Object.hasOwn(written, meant))
    return {
      rule: 'unknown-deliver-extra',
      path: ['deliver_extra', ...path],
      at: 'key',
      message: `no target of this entry reads \`deliver_extra.${path.join('.')}\`: it is called \`${meant}\``,
      fix: { kind: 'rename', text: meant },
    };
  const guess = didYouMean(key, known);
  const message = `no target of this entry reads \`deliver_extra.${path.join('.')}\`${guess}`;
  const hint = known.length === 0 ? 'this target takes none' : `known here: ${oneOf([...new Set(known)], 'and')}`;
  return {
    rule: 'unknown-deliver-extra',
    path: ['deliver_extra', ...path],
    at: 'key',
    message,
    ...(guess === '' ? { hint } : {}),
  };
}
