/** What `deliver` and `deliver_extra` name: targets, and what is said to each of them (§4.4). */
import type { TargetPlan } from '../../schemas/generated/types.ts';
import { isPlainMap } from '../text/plain-map.ts';
import type { TableContent } from './table-content.ts';

/** The two keys as a route or a job writes them. */
export interface DeliveryConfig {
  readonly deliver?: string | readonly string[] | undefined;
  readonly deliver_extra?: DeliverExtra | undefined;
}

export type Scalar = string | number;

export type DeliverExtra = Readonly<Record<string, Scalar | Readonly<Record<string, Scalar>>>>;

/** Canonical target names by every name; see the table. */
export type TargetAliases = Readonly<Record<string, string>>;

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
export const targetNamed = (names: TargetAliases, name: string): string | null =>
  Object.hasOwn(names, name) ? (names[name] ?? null) : null;

/** What `deliver_extra` says to one target: the flat keys it reads, and above them those under the target's own name. */
export function extraOf(extra: DeliverExtra, plan: TargetPlan, names: TargetAliases): ReadonlyMap<string, ExtraValue> {
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
export const THREAD_KEYS = ['message_thread_id', 'thread_id'];

/** Keys of `deliver_extra` that a target reads. */
export const addressKeys = (plan: TargetPlan): readonly string[] =>
  plan.address.flatMap(({ name }) => (name === 'thread' ? [...THREAD_KEYS] : [name]));

export interface ExtraValue {
  readonly text: string;
  /** Below `deliver_extra`. */
  readonly path: readonly string[];
}

/** Where a job delivers besides targets: to the chat it was set up in, else the profile's home channel. */
export const JOB_DELIVERIES: readonly string[] = ['origin'];
