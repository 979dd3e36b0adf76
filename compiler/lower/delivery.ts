/** Lowers `deliver` and `deliver_extra`: one plan per target, its address as templates (§4.4). */
import type { DeliveryPlan, TemplatePlan } from '../../schemas/generated/types.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { isPlainMap, setOwn } from '../source/plain-map.ts';
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

/** What `deliver_extra` says to one target: the flat keys, and above them those under the target's own name. */
export function extraOf(extra: DeliverExtra, target: string, names: TargetNames): ReadonlyMap<string, ExtraValue> {
  const values = new Map<string, ExtraValue>();
  for (const [key, value] of Object.entries(extra)) {
    if (!isPlainMap(value)) values.set(key, { text: String(value), path: [key] });
  }
  for (const [key, group] of Object.entries(extra)) {
    if (!isPlainMap(group) || targetNamed(names, key) !== target) continue;
    for (const [name, value] of Object.entries(group)) values.set(name, { text: String(value), path: [key, name] });
  }
  return values;
}

export interface ExtraValue {
  readonly text: string;
  /** Below `deliver_extra`. */
  readonly path: readonly string[];
}

/** Unknown targets are left out; the rule `unknown-target` reports them. */
export function lowerDeliveries(config: DeliveryConfig, names: TargetNames): Lowered<DeliveryPlan[]> {
  const problems: Problem[] = [];
  const targets = writtenTargets(config.deliver).flatMap(({ name }) => targetNamed(names, name) ?? []);
  const plan = [...new Set(targets)].map((target): DeliveryPlan => {
    const extra: Record<string, TemplatePlan> = {};
    for (const [key, { text, path }] of extraOf(config.deliver_extra ?? {}, target, names)) {
      const lowered = lowerTemplate(text);
      problems.push(...lowered.problems.map((problem) => ({ ...problem, path: ['deliver_extra', ...path] })));
      if (lowered.plan !== null) setOwn(extra, key, lowered.plan);
    }
    return { target, extra };
  });
  return { plan, problems };
}
