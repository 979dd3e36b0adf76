/** Lowers `deliver` and `deliver_extra`: one plan per target, its address as templates (§4.4). */
import type { DeliveryPlan, TemplatePlan } from '../../schemas/generated/types.ts';
import type {
  DeliverExtra,
  DeliveryConfig,
  ExtraValue,
  KnownTargets,
  Scalar,
  WrittenTarget,
} from '../config/deliveries.ts';
import { extraOf, targetNamed, writtenTargets } from '../config/deliveries.ts';
import type { TableContent } from '../config/table-content.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { isPlainMap, setOwn } from '../text/plain-map.ts';
import { lowerTemplate } from './template.ts';

function flatExtra(extra: DeliverExtra): ReadonlyMap<string, ExtraValue> {
  const flat = Object.entries(extra).filter((entry): entry is [string, Scalar] => !isPlainMap(entry[1]));
  return new Map(flat.map(([key, value]) => [key, { text: String(value), path: [key] }]));
}

/** Where messages of the gateway itself go; nowhere without it. */
export const lowerReceiver = (config: DeliveryConfig | undefined, table: KnownTargets): Lowered<DeliveryPlan[]> =>
  config === undefined ? { plan: [], problems: [] } : lowerDeliveries(config, table);

/** How long a message waits for its approval where nothing else is said, in ms. */
export const APPROVE_MS = 86_400_000;

/** `deliver` of a route, a job or an output: with `approve` each message waits for a person. @param words as of `lowerDeliveries` */
export function lowerDeliver(
  config: DeliveryConfig & { readonly approve?: boolean | undefined },
  table: Pick<TableContent, 'targets' | 'target_names' | 'gateway'>,
  words: readonly string[] = [],
): Lowered<DeliveryPlan[]> {
  const { plan, problems } = lowerDeliveries(config, table, words);
  if (config.approve !== true || plan === null) return { plan, problems };
  const approve_ms = table.gateway.approvals?.expires_ms ?? APPROVE_MS;
  return { plan: plan.map((delivery) => ({ ...delivery, approve_ms })), problems };
}

/**
 * Unknown targets are omitted; the rule `unknown-target` reports them.
 * @param words names that are not targets and are kept unchanged (`origin`); they accept every key
 */
function lowerDeliveries(
  config: DeliveryConfig,
  table: KnownTargets,
  words: readonly string[] = [],
): Lowered<DeliveryPlan[]> {
  const problems: Problem[] = [];
  const named = ({ name }: WrittenTarget): readonly string[] =>
    words.includes(name) ? [name] : [targetNamed(table.target_names, name) ?? []].flat();
  const targets = new Set(writtenTargets(config.deliver).flatMap(named));
  const plan = [...targets].map((target): DeliveryPlan => {
    const extra: Record<string, TemplatePlan> = {};
    const known = table.targets[target];
    const written = config.deliver_extra ?? {};
    const values = known === undefined ? flatExtra(written) : extraOf(written, known, table.target_names);
    for (const [key, { text, path }] of values) {
      const lowered = lowerTemplate(text);
      problems.push(...lowered.problems.map((problem) => ({ ...problem, path: ['deliver_extra', ...path] })));
      if (lowered.plan !== null) setOwn(extra, key, lowered.plan);
    }
    // A placeholder of the URL that `deliver_extra` does not set is a field of the payload.
    for (const { name } of known?.variants.some(({ webhook }) => webhook !== undefined) ? known.address : [])
      if (!Object.hasOwn(extra, name)) setOwn(extra, name, lowerTemplate(`{${name}}`).plan ?? []);
    return { target, extra };
  });
  return { plan, problems };
}
