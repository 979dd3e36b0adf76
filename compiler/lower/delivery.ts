/** Lowers `deliver` and `deliver_extra`: one plan per target, its address as templates (§4.4). */
import type { DeliveryPlan, TargetPlan, TemplatePlan } from '../../schemas/generated/types.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { isPlainMap, setOwn } from '../text/plain-map.ts';
import type { TableContent } from './table-content.ts';
import { lowerTemplate } from './template.ts';

/** The two keys as a route or a job writes them. */
export interface DeliveryConfig {
  readonly deliver?: string | readonly string[] | undefined;
  readonly deliver_extra?: DeliverExtra | undefined;
}

type Scalar = string | number;
export type DeliverExtra = Readonly<Record<string, Scalar | Readonly<Record<string, Scalar>>>>;

/** Canonical target names by every name; see the table. */
export type TargetNames = Readonly<Record<string, string>>;

/** The part of the table that deliveries are lowered against. */
export type KnownTargets = Pick<TableContent, 'targets' | 'target_names'>;

export const DEFAULT_TARGET = 'log';

/** A target as it is written. `index`: its place in the list; null when `deliver` is one name. */
export interface WrittenTarget {
  readonly name: string;
  readonly index: number | null;
}

export function writtenTargets(deliver: DeliveryConfig['deliver']): readonly WrittenTarget[] {
  if (deliver === undefined) return [{ name: DEFAULT_TARGET, index: null }];
  return typeof deliver === 'string'
    ? [{ name: deliver, index: null }]
    : deliver.map((name, index) => ({ name, index }));
}

/** The canonical name; null: nothing is called that. */
export const targetNamed = (names: TargetNames, name: string): string | null =>
  Object.hasOwn(names, name) ? (names[name] ?? null) : null;

/** What `deliver_extra` says to one target: the flat keys it reads, and above them those under the target's own name. */
export function extraOf(extra: DeliverExtra, plan: TargetPlan, names: TargetNames): ReadonlyMap<string, ExtraValue> {
  const values = new Map<string, ExtraValue>();
  const known = addressKeys(plan);
  for (const [key, value] of Object.entries(extra)) {
    if (!isPlainMap(value) && known.includes(key)) values.set(key, { text: String(value), path: [key] });
  }
  for (const [key, group] of Object.entries(extra)) {
    if (!isPlainMap(group) || targetNamed(names, key) !== plan.name) continue;
    for (const [name, value] of Object.entries(group)) values.set(name, { text: String(value), path: [key, name] });
  }
  return values;
}

/** The thread of a chat has two names (§2.1). */
const THREAD_KEYS = ['message_thread_id', 'thread_id'];

/** Keys of `deliver_extra` that a target reads. */
export const addressKeys = (plan: TargetPlan): readonly string[] =>
  plan.address.flatMap(({ name }) => (name === 'thread' ? [...THREAD_KEYS] : [name]));

function flatExtra(extra: DeliverExtra): ReadonlyMap<string, ExtraValue> {
  const flat = Object.entries(extra).filter((entry): entry is [string, Scalar] => !isPlainMap(entry[1]));
  return new Map(flat.map(([key, value]) => [key, { text: String(value), path: [key] }]));
}

export interface ExtraValue {
  readonly text: string;
  /** Below `deliver_extra`. */
  readonly path: readonly string[];
}

/**
 * Unknown targets are left out; the rule `unknown-target` reports them.
 * @param words names that are no targets and are kept as they are (`origin`); they take every key.
 */
export function lowerDeliveries(
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
    return { target, extra };
  });
  return { plan, problems };
}
